/**
 * Generates `rendering.json`: templates with their output in real Jinja2's sandbox.
 *
 *     node test/jinja/rendering-generator.ts
 */
import { writeFileSync } from 'node:fs'
import { ask, findPython } from './oracle.ts'
import { randomSource, sampleContext, TemplateMaker } from './random-templates.ts'
import { handWritten } from './rendering-templates.ts'

const python = findPython()
if (python === null) throw new Error('no Python with jinja2 found')

const maker = new TemplateMaker(randomSource(2024))
const random = Array.from({ length: 1500 }, () => maker.make()).filter(({ length }) => length < 200)
const sources = [...handWritten, ...random]
const verdicts = ask(
  python,
  sources.map((source) => ({ source, context: sampleContext })),
)
const unstable = / at 0x|method|generator|random/
const cases = sources.flatMap((source, index) => {
  const { output } = verdicts[index] ?? {}
  const isOwn = index < handWritten.length
  if (output === undefined && !isOwn) return []
  if (unstable.test(output ?? '') || (!isOwn && /\[[-0-9:]*:|\*\*/.test(source))) return []
  return [{ source, output: output ?? null }]
})
const file = new URL('rendering.json', import.meta.url)
writeFileSync(file, `${JSON.stringify({ context: sampleContext, cases }, null, 1)}\n`)
console.log(`${cases.length} cases`)
