import { parseArgs } from 'node:util'
import { bin } from '../../../test/harness/program.ts'
import { areMet, type Section, table, writeJson } from '../measure/report.ts'
import { stressLists } from './lists.ts'
import { type StressReport, stressCalls } from './stress.ts'

/*
 * Shows that calls are placed exactly once: no number is called twice, and no call is lost without
 * being reported as unknown. Two servers that share a state directory place calls on a platform with
 * random faults; both are killed again and again, and requests are delivered twice. Fails when one
 * placement is not as promised.
 *   npm run stress:calls [-- --placements 10000 --seed 1 --at-once 150 --json]
 * Before that, lists of calls with two slow platforms and a clock that is set forward:
 *   npm run stress:calls -- --lists 100,300 [--answer-ms 200,2000]
 */

const { values: flags } = parseArgs({
  options: {
    placements: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '150' },
    program: { type: 'string', default: bin },
    lists: { type: 'string', default: '100,300' },
    'answer-ms': { type: 'string', default: '200,2000' },
    json: { type: 'boolean', default: false },
  },
})
const { program } = flags

const numbersIn = (text: string) => text.split(',').filter(Boolean).map(Number)

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
for (const numbers of numbersIn(flags.lists)) {
  for (const answerMs of numbersIn(flags['answer-ms'])) {
    for (const stepsClock of [false, true])
      report([await stressList(numbers, answerMs, stepsClock)])
  }
}
const stressed = await stressCalls({
  placements: Number(flags.placements),
  seed: Number(flags.seed),
  atOnce: Number(flags['at-once']),
  killEveryMs: 5000,
  mostTries: 14,
  program,
})
report(placementSections(stressed))
if (flags.json) writeJson('-', sections)
if (!areMet(sections)) process.exitCode = 1
