import { styleText } from 'node:util'
import { readScript } from '../../src/dev/script-arguments.ts'
import { installOnce } from '../harness/install-once.ts'
import { expectedFailures } from './expected-failures.ts'
import {
  type Check,
  isRunByName,
  runAuthorization,
  runSuite,
  type ScenarioSet,
  scenarioSets,
  scenariosIn,
} from './suite.ts'
import { applies, concerns, legOf, type TargetName, targets } from './targets.ts'
import { judge, type Outcome, unusedOf, type Verdict } from './verdict.ts'

const usage = `Runs the official conformance suite, in both its lines, against the built server, and against
the suite's own tools behind the same HTTP and stdio, and against the authorization server.

npm run conformance [-- --line LINE --scenario NAME --target NAME --json]

  --line      0.1 or 0.2; both without it
  --scenario  only this scenario
  --target    only this one: ${Object.keys(targets).join(', ')}
  --json      one JSON document on standard output instead of a table

Ends with 0 when every scenario passes or fails as expected, with 1 when one does not, with 2 when
the suite cannot run.
`

const { flags, refuse } = readScript(usage, {
  line: undefined,
  scenario: undefined,
  target: undefined,
  json: false,
})
const write = (text: string) => process.stdout.write(text)

/** Runs a set of scenarios against a target and judges the results. */
async function verdictsOn(
  set: ScenarioSet,
  target: TargetName,
  url: string,
): Promise<readonly Verdict[]> {
  const scenarios = (await scenariosIn(set, legOf(target))).filter(
    (name) => applies(name, target) && (flags.scenario === undefined || name === flags.scenario),
  )
  if (scenarios.length === 0) return []
  const { line, revision } = set
  const isMcp = legOf(target) === 'server'
  const results = await (isMcp ? runScenarios(set, url, scenarios) : runAuthorization(set, url))
  return scenarios.map((scenario) => {
    const checks = results.get(scenario)?.filter(({ id }) => concerns(id, target))
    return judge({ line, revision, target, scenario }, checks, expectedFailures)
  })
}

/** Runs the requested scenario, or the whole set and the scenarios that run by name. */
async function runScenarios(set: ScenarioSet, url: string, scenarios: readonly string[]) {
  const all = [undefined, ...scenarios.filter(isRunByName)]
  const results = new Map<string, readonly Check[]>()
  for (const scenario of flags.scenario === undefined ? all : [flags.scenario])
    for (const [name, checks] of await runSuite(set, url, scenario)) results.set(name, checks)
  return results
}

async function runAgainst(
  name: TargetName,
  sets: readonly ScenarioSet[],
): Promise<readonly Verdict[]> {
  await using target = await targets[name]()
  const verdicts: Verdict[] = []
  for (const set of sets) {
    const more = await verdictsOn(set, name, target.url)
    verdicts.push(...more)
    if (!flags.json) write(more.map(row).join(''))
  }
  return verdicts
}

async function allVerdicts(): Promise<readonly Verdict[]> {
  const sets = scenarioSets.filter(({ line }) => flags.line === undefined || line === flags.line)
  if (sets.length === 0) refuse(`There is no line ${flags.line}.`)
  const names = Object.keys(targets) as TargetName[]
  const chosen = names.filter((name) => flags.target === undefined || name === flags.target)
  if (chosen.length === 0) refuse(`There is no target ${flags.target}.`)
  const verdicts = (await Promise.all(chosen.map((name) => runAgainst(name, sets)))).flat()
  if (verdicts.length === 0) refuse(`There is no scenario ${flags.scenario} for that.`)
  return verdicts
}

const colour = { passed: 'green', failed: 'red', expected: 'yellow', skipped: 'gray' } as const

const row = ({ line, revision, target, scenario, outcome, passed, reason }: Verdict) =>
  [
    styleText(colour[outcome], outcome.padEnd(8)),
    `${line} ${revision}`,
    target.padEnd(20),
    scenario.padEnd(46),
    reason ?? `${passed} checks`,
  ]
    .join('  ')
    .concat('\n')

async function conform(): Promise<void> {
  installOnce(import.meta.dirname)
  const verdicts = await allVerdicts()
  const isWhole = flags.line === undefined && flags.target === undefined && !flags.scenario
  const unused = isWhole ? unusedOf(expectedFailures, verdicts) : []
  const count = (outcome: Outcome) => verdicts.filter((one) => one.outcome === outcome).length
  const counts = {
    passed: count('passed'),
    failed: count('failed'),
    expected: count('expected'),
    skipped: count('skipped'),
  }
  if (flags.json) write(`${JSON.stringify({ counts, unused, verdicts }, null, 2)}\n`)
  else {
    const words = Object.entries(counts).map(([outcome, number]) => `${number} ${outcome}`)
    write(`\n${words.join(', ')}\n`)
    for (const name of unused) write(`expected-failures.ts names ${name}, which was not run.\n`)
  }
  process.exitCode = counts.failed + unused.length > 0 ? 1 : 0
}

await conform().catch((error: Error) => {
  process.stderr.write(`The suite cannot run: ${error.message}\n`)
  process.exit(2)
})
