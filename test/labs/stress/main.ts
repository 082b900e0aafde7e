import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { readScript } from '../../../src/dev/script-arguments.ts'
import { bin, scratchFolder, startProcess } from '../../harness/program.ts'
import { StdioClient } from '../measure/clients.ts'
import { areMet, type Section, table, writeJson } from '../measure/report.ts'
import { agentId } from '../platform/call-lists.ts'
import { startSlowPlatform } from './faulty-platform.ts'
import { stressCalls } from './killed-servers.ts'

const usage = `Checks that calls are placed exactly once: no number is called twice, and a call whose outcome is lost
is reported as unknown. First places lists of calls on two slow platforms, with and without a clock
that is set forward. Then two servers share a state directory and place calls on a platform with
random faults; they are killed again and again, and some requests are sent twice.

npm run stress:calls [-- --placements 10000 --seed 1 --at-once 150 --lists 100,300 --json --help]

  --placements  number of calls that the two servers place (default 10000)
  --seed        seed of the random faults (default 1)
  --at-once     number of concurrent calls (default 150)
  --lists       lengths of the lists; empty: no lists (default 100,300)
  --answer-ms   response times of the slow platforms, ms (default 200,2000)
  --program     path of the built program (default dist/voice-agent-mcp.js)
  --json        prints one JSON document instead of tables

Exits with 1 if a guarantee is violated, with 2 if it cannot run.
`

const { flags, number } = readScript(usage, {
  placements: 10_000,
  seed: 1,
  'at-once': { usual: 150, min: 1 },
  lists: '100,300',
  'answer-ms': '200,2000',
  program: bin,
  json: false,
})

const numbersIn = (flag: 'lists' | 'answer-ms') =>
  flags[flag]
    .split(',')
    .filter(Boolean)
    .map((text) => number(flag, text))
const [listLengths, answerTimes] = [numbersIn('lists'), numbersIn('answer-ms')]

/**
 * Number of platforms. Each gets the same lists of calls, from a program of its own. All programs
 * share one state directory.
 */
const origins = 2

/** Calls per list. */
const perList = 100
/** Maximum requests for one list, with repetitions. */
const maxRequests = 100

const ListResult = z.looseObject({ summary: z.record(z.string(), z.int()) })

/** Module that sets a program's clock forward by an hour every five seconds. */
const steppingClock = `data:text/javascript,${encodeURIComponent(
  'const now = Date.now; const began = performance.now(); Date.now = () => now() + 3600000 * Math.floor((performance.now() - began) / 5000)',
)}`

/**
 * Places `count` calls in lists, each repeated until all its calls are placed. `answerMs`: reply
 * time of the platform.
 */
async function stressLists(count: number, answerMs: number, nodeOptions: readonly string[]) {
  using folder = scratchFolder()
  const numbers = Array.from({ length: count }, (_, at) => `+4915112${String(at).padStart(6, '0')}`)
  const wrong: string[] = []
  for (let origin = 1; origin <= origins; origin++) {
    await using slow = await startSlowPlatform(answerMs)
    await using program = startProcess([process.execPath, ...nodeOptions, flags.program], {
      VOICE_AGENT_BASE_URL: slow.url,
      VOICE_AGENT_API_KEY: 'stress-key-0123456789',
      VOICE_AGENT_CONFIRM: 'never',
      VOICE_AGENT_STATE_DIR: folder.path,
      // A concurrency limit, to check that ended and failed calls release their permits.
      VOICE_AGENT_DIAL_POLICY: JSON.stringify({ max_at_once: 5 }),
    })
    const client = new StdioClient(program)
    for (let from = 0; from < count; from += perList)
      await placeList(client, numbers.slice(from, from + perList))
    const held = await heldPermits(folder.path, answerMs)
    if (held > 0) wrong.push(`origin ${origin}: ${held} permits are still held`)
    const called = Map.groupBy(slow.platform.calls, ({ to_number }) => to_number)
    for (const number of numbers) {
      const times = called.get(number)?.length ?? 0
      if (times !== 1) wrong.push(`origin ${origin}: ${number} called ${times} times`)
    }
  }
  for (const one of wrong.slice(0, 20)) console.error(one)
  const clock = nodeOptions.length > 0 ? ', a clock that is set forward' : ''
  return {
    title: `lists of ${count} calls, ${answerMs} ms a request${clock}`,
    unit: 'calls',
    values: { numbers: count },
    goals: [{ name: 'violations', value: wrong.length, atMost: 0 }],
  }
}

async function placeList(client: StdioClient, numbers: readonly string[]): Promise<void> {
  const calls = numbers.map((to_number) => ({ to_number }))
  const list = { agent_id: agentId, from_number: '+12025550110', calls }
  for (let request = 0; request < maxRequests; request++) {
    const { structuredContent } = await client.callTool('place_calls', list)
    const { summary } = ListResult.parse(structuredContent)
    if ((summary.placed ?? 0) + (summary.repeated ?? 0) === calls.length) return
  }
  throw new Error(`The list from ${numbers[0]} on does not end`)
}

const Held = z.object({ held: z.int() })

/** Number of permits still held after the program had time to notice that all calls have ended. */
async function heldPermits(stateDir: string, answerMs: number): Promise<number> {
  using db = new DatabaseSync(join(stateDir, 'dialled.db'), { readOnly: true, timeout: 5000 })
  const count = db.prepare('SELECT count(*) AS held FROM calls WHERE lease_end > 0')
  const end = performance.now() + 30_000 + 10 * answerMs
  for (;;) {
    const { held } = Held.parse(count.get())
    if (held === 0 || performance.now() > end) return held
    await sleep(500)
  }
}

function placementSections(report: Awaited<ReturnType<typeof stressCalls>>): Section[] {
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
        { name: 'violations', value: violations.length, atMost: 0 },
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
    for (const nodeOptions of [[], ['--import', steppingClock]])
      report([await stressLists(numbers, answerMs, nodeOptions)])
  }
}
const stressed = await stressCalls({
  placements: flags.placements,
  seed: flags.seed,
  concurrency: flags['at-once'],
  killEvery: 100,
  maxTries: 14,
  program: flags.program,
})
report(placementSections(stressed))
if (flags.json) writeJson('-', sections)
if (!areMet(sections)) process.exitCode = 1
