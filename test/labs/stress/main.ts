import { parseArgs } from 'node:util'
import { type ScriptUsage, scriptUsage } from '../../../src/dev/script-usage.ts'
import { bin } from '../../harness/program.ts'
import { areMet, type Section, table, writeJson } from '../measure/report.ts'
import { stressLists } from './lists.ts'
import { type StressReport, stressCalls } from './stress.ts'

const usage = `Shows that calls are placed exactly once: no number is called twice, and no call is lost without
being reported as unknown. First lists of calls on two slow platforms, with and without a clock that is
set forward; then two servers that share a state directory and place calls on a platform with random
faults, are killed again and again, and get requests twice.

npm run stress:calls [-- --placements 10000 --seed 1 --at-once 150 --lists 100,300 --json --help]

  --placements  how many calls the two servers place (default 10000)
  --seed        another seed is another order of faults (default 1)
  --at-once     calls under way at the same time (default 150)
  --lists       how many calls each list has; empty: no lists (default 100,300)
  --answer-ms   how long the slow platforms take for a request, ms (default 200,2000)
  --program     the built program (default dist/voice-agent-mcp.js)
  --json        one JSON document on standard output instead of tables

Ends with 1 when a placement is not as promised, with 2 when it cannot run.
`

const script: ScriptUsage = scriptUsage(usage)
const { values: flags } = script.readOr(() =>
  parseArgs({
    options: {
      placements: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
      'at-once': { type: 'string', default: '150' },
      program: { type: 'string', default: bin },
      lists: { type: 'string', default: '100,300' },
      'answer-ms': { type: 'string', default: '200,2000' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }),
)
script.showIf(flags.help)
const { program } = flags
const placements = script.number('placements', flags.placements)
const seed = script.number('seed', flags.seed)
const atOnce = script.number('at-once', flags['at-once'], 1)

const numbersIn = (flag: 'lists' | 'answer-ms') =>
  flags[flag]
    .split(',')
    .filter(Boolean)
    .map((text) => script.number(flag, text))
const [listLengths, answerTimes] = [numbersIn('lists'), numbersIn('answer-ms')]

async function stressList(numbers: number, answerMs: number, stepsClock: boolean) {
  const wrong = await stressLists({ numbers, answerMs, stepsClock, origins: 2, program })
  for (const one of wrong.slice(0, 20)) console.error(one)
  const clock = stepsClock ? ', a clock that is set forward' : ''
  return {
    title: `lists of ${numbers} calls, ${answerMs} ms a request${clock}`,
    unit: 'calls',
    values: { numbers },
    goals: [{ name: 'not as promised', value: wrong.length, atMost: 0 }],
  }
}

function placementSections(report: StressReport): Section[] {
  const { outcomes, refusals, platform, violations, rungTwice, lost, ...values } = report
  for (const violation of violations.slice(0, 20)) console.error(violation)
  return [
    {
      title: 'placements with a faulty platform and killed servers',
      unit: 'calls',
      values,
      goals: [
        { name: 'rung twice', value: rungTwice, atMost: 0 },
        { name: 'lost', value: lost, atMost: 0 },
        { name: 'not as promised', value: violations.length, atMost: 0 },
      ],
    },
    { title: 'outcomes', unit: 'placements', values: outcomes, goals: [] },
    { title: 'refusals', unit: 'requests', values: refusals, goals: [] },
    { title: 'what the platform did', unit: 'requests', values: platform, goals: [] },
  ]
}

const sections: Section[] = []
const report = (more: readonly Section[]) => {
  sections.push(...more)
  if (!flags.json) process.stdout.write(table(more))
}
for (const numbers of listLengths) {
  for (const answerMs of answerTimes) {
    for (const stepsClock of [false, true])
      report([await stressList(numbers, answerMs, stepsClock)])
  }
}
const stressed = await stressCalls({
  placements,
  seed,
  atOnce,
  killEveryMs: 5000,
  mostTries: 14,
  program,
})
report(placementSections(stressed))
if (flags.json) writeJson('-', sections)
if (!areMet(sections)) process.exitCode = 1
