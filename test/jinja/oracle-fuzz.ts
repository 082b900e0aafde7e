/**
 * Compares this implementation with real Jinja2 on random templates:
 *
 *     node test/jinja/oracle-fuzz.ts --count 5000 --seed 1
 *
 * Prints every unknown difference and a summary. Exits with 1 if there is one. Without a Python
 * with Jinja2, prints "skipped" and exits with 0.
 */
import { parseArgs } from 'node:util'
import { analyse, render, TemplateError } from '../../src/jinja/index.ts'
import { knownDifferences } from './known-differences.ts'
import { ask, findPython, type Verdict } from './oracle.ts'
import { randomSource, sampleContext, TemplateMaker } from './random-templates.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'string', default: '20' },
  },
})

type Outcome = { readonly output: string } | { readonly failure: string }

function renderHere(source: string): Outcome {
  try {
    return { output: render(source, sampleContext) }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { failure: `${error.type}: ${error.message}` }
  }
}

function difference(source: string, verdict: Verdict): string | null {
  const mine = analyse(source)
  if (mine.valid !== verdict.valid) {
    return `valid: ${mine.valid} ${JSON.stringify(mine.errors)} ${JSON.stringify(verdict.error)}`
  }
  if (verdict.error !== undefined) {
    const [error] = mine.errors
    const { line, message } = verdict.error
    if (line !== null && error?.line !== line) return `line: ${error?.line} instead of ${line}`
    if (line !== null && !error?.message.startsWith(message)) {
      return `message: ${error?.message} instead of ${message}`
    }
    return null
  }
  const paths = mine.variables.map(({ path, line }) => `${path}:${line}`).sort()
  const wanted = (verdict.paths ?? []).map(([path, line]) => `${path}:${line}`).sort()
  if (paths.join() !== wanted.join()) return `paths: ${paths} instead of ${wanted}`
  return outputDifference(renderHere(source), verdict)
}

function outputDifference(mine: Outcome, { output, failure }: Verdict): string | null {
  if (failure !== undefined) {
    return 'failure' in mine ? null : `output ${JSON.stringify(mine.output)} instead of ${failure}`
  }
  if (output === undefined) return null
  if ('failure' in mine) return `${mine.failure} instead of ${JSON.stringify(output)}`
  if (mine.output === output) return null
  return `output ${JSON.stringify(mine.output)} instead of ${JSON.stringify(output)}`
}

function main(python: string): void {
  const count = Number(values.count)
  const maker = new TemplateMaker(randomSource(Number(values.seed)))
  const sources = Array.from({ length: count }, () => maker.make())
  const verdicts = ask(
    python,
    sources.map((source) => ({ source, context: sampleContext })),
  )
  const differences = sources.flatMap((source, index) => {
    const verdict = verdicts[index]
    const found = verdict === undefined ? 'no answer' : difference(source, verdict)
    return found === null ? [] : [{ source, found }]
  })
  const unknown = differences.filter(
    ({ source, found }) => !knownDifferences.some(({ excuses }) => excuses(found, source)),
  )
  for (const { source, found } of unknown.slice(0, Number(values.show))) {
    console.log(`${found}\n    ${JSON.stringify(source)}`)
  }
  for (const { reason, excuses } of knownDifferences) {
    const excused = differences.filter(({ source, found }) => excuses(found, source))
    if (excused.length > 0) console.log(`${excused.length} × ${reason}`)
  }
  const valid = verdicts.filter((verdict) => verdict.valid).length
  const rendered = verdicts.filter(({ output }) => output !== undefined).length
  console.log(
    `${count} templates (${valid} valid, ${rendered} rendered): ` +
      `${differences.length} differences, ${unknown.length} of them of no known kind`,
  )
  if (unknown.length > 0) process.exitCode = 1
}

const python = findPython()
if (python === null) console.log('skipped: no Python with jinja2 found')
else main(python)
