import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { stressLists } from './calls-stress/lists.ts'
import { stressCalls } from './calls-stress/stress.ts'

/*
 * Shows that calls are placed exactly once: no number is rung twice, and none is lost without being
 * reported as unknown. Two servers that share their memory place calls with a platform that times
 * out, drops, acts late and answers wrongly at random; both are killed again and again, and requests
 * are delivered twice. Fails when a single placement breaks the promise.
 *   npm run stress:calls [-- --placements 10000 --seed 1 --at-once 150 --json]
 * Before that, lists of calls with slow platforms, two of them, and a clock that is set forward:
 *   npm run stress:calls -- --lists 100,300 [--answer-ms 200,2000]
 */

const { values: flags } = parseArgs({
  options: {
    placements: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '150' },
    program: {
      type: 'string',
      default: join(import.meta.dirname, '../../dist/voice-agent-mcp.js'),
    },
    lists: { type: 'string', default: '100,300' },
    'answer-ms': { type: 'string', default: '200,2000' },
    json: { type: 'boolean', default: false },
  },
})

const figures = (text: string) => text.split(',').filter(Boolean).map(Number)
let wrongLists = 0
for (const names of figures(flags.lists)) {
  for (const answerMs of figures(flags['answer-ms'])) {
    for (const stepsClock of [false, true]) {
      const options = { names, answerMs, stepsClock, origins: 2, program: flags.program }
      const wrong = await stressLists(options)
      wrongLists += wrong.length
      const clock = stepsClock ? ', a clock that is set forward' : ''
      console.error(`${names} names, ${answerMs} ms a request${clock}: ${wrong.length} wrong`)
      for (const one of wrong.slice(0, 20)) console.error(one)
    }
  }
}

const report = await stressCalls({
  placements: Number(flags.placements),
  seed: Number(flags.seed),
  atOnce: Number(flags['at-once']),
  killEveryMs: 5000,
  mostTries: 14,
  program: flags.program,
})
if (flags.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
else {
  const { outcomes, refusals, platform, violations, ...figures } = report
  console.table(figures)
  console.table(outcomes)
  console.table(refusals)
  console.table(platform)
  for (const violation of violations.slice(0, 20)) console.error(violation)
}
if (report.violations.length + wrongLists > 0) process.exitCode = 1
