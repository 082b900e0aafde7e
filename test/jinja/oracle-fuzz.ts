/**
 * Compares this implementation with real Jinja2 on random templates:
 *
 *     node test/jinja/oracle-fuzz.ts --count 5000 --seed 1
 *
 * Prints every difference and a summary. Exits with 1 if under 99 % agree, with 0 and "skipped"
 * where there is no Python with Jinja2.
 */
import { parseArgs } from 'node:util'
import { analyse, render, TemplateError } from '../../src/jinja/index.ts'
import { ask, findPython, type Verdict } from './oracle.ts'
import { randomSource, sampleContext, TemplateMaker } from './templates.ts'

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

/** Addresses in memory and the names of generators cannot agree. */
function isIncomparable(output: string): boolean {
  return / at 0x[0-9a-f]+|(?:bound|built-in) method|&lt;generator|<generator/.test(output)
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
  if (output === undefined || isIncomparable(output)) return null
  if ('failure' in mine) return `${mine.failure} instead of ${JSON.stringify(output)}`
  if (mine.output === output) return null
  return `output ${JSON.stringify(mine.output)} instead of ${JSON.stringify(output)}`
}

/** Differences that are left: Jinja2 folds `7[1:]` to undefined, and Python has complex numbers. */
const known = [/object is not subscriptable/, /complex numbers are not supported/]

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
    return found === null ? [] : [`${found}\n    ${JSON.stringify(source)}`]
  })
  for (const text of differences.slice(0, Number(values.show))) console.log(text)
  const expected = differences.filter((text) => known.some((pattern) => pattern.test(text))).length
  const valid = verdicts.filter((verdict) => verdict.valid).length
  const rendered = verdicts.filter(({ output }) => output !== undefined).length
  const agreement = (100 * (count - differences.length)) / count
  console.log(
    `${count} templates (${valid} valid, ${rendered} rendered): ` +
      `${differences.length} differences (${expected} of a known kind), ${agreement.toFixed(2)} % agree`,
  )
  if (agreement < 99) process.exitCode = 1
}

const python = findPython()
if (python === null) console.log('skipped: no Python with jinja2 found')
else main(python)
