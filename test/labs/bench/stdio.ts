import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { clientMeta } from '../../harness/mcp-request.ts'
import { bin, scratchFolder, startProcess } from '../../harness/program.ts'
import { usageOf } from '../measure/program.ts'
import { median, round, type Section } from '../measure/report.ts'

const clientInfo = { name: 'bench', version: '1.0.0' }
const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
}
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const modernList = { ...list, params: { _meta: clientMeta({}, 'bench') } }

/**
 * First messages of a client, by revision. Each group is sent when the previous group is answered.
 */
const firstMessages = { 2025: [[initialize], [initialized, list]], '2026-07-28': [[modernList]] }

const Answer = z.looseObject({ id: z.number() })

interface StartResult {
  /** Time from the spawn to the answer to tools/list, ms. */
  readonly ms: number
  /** Every answer, unchanged. */
  readonly answers: readonly string[]
  /** Memory at `thenMs` after the last answer, MB. */
  readonly memory: number
}

/**
 * Starts a program over stdio, sends groups of messages, and stops the program after the last
 * answer.
 */
async function timeStart(
  args: readonly string[],
  groups: readonly (readonly object[])[],
  { env = {}, thenMs = 0 }: { env?: Record<string, string>; thenMs?: number } = {},
): Promise<StartResult> {
  const began = performance.now()
  const program = startProcess([process.execPath, ...args], env)
  const { stdin, stdout } = program.process
  const answers: string[] = []
  const send = (messages: readonly object[] = []) =>
    stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
  send(groups[0])
  for await (const line of createInterface(stdout)) {
    answers.push(line)
    if (answers.length === groups.length) break
    send(groups[answers.length])
  }
  const ms = performance.now() - began
  await sleep(thenMs)
  const { memory } = usageOf(program.process)
  await program[Symbol.asyncDispose]()
  return { ms, answers, memory }
}

/** A script that only prints these answers: lower bound for a server on Node.js. */
const rawScript = (answers: readonly string[]) => `
const answers = new Map(${JSON.stringify(
  answers.map((answer) => [Answer.parse(JSON.parse(answer)).id, answer]),
)})
let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n')
  rest = lines.pop()
  for (const line of lines) {
    const { id } = JSON.parse(line)
    if (id !== undefined) process.stdout.write(answers.get(id) + '\\n')
  }
})
`

/** Measures the time from the spawn to the list of tools, and the memory of an idle server. */
export async function stdio(runs: number): Promise<Section[]> {
  using folder = scratchFolder()
  const env = {
    VOICE_AGENT_SANDBOX_DB: join(folder.path, 'sandbox.db'),
    VOICE_AGENT_STATE_DIR: ':memory:',
    NODE_COMPILE_CACHE: join(folder.path, 'cache'),
  }
  const sections: Section[] = []
  for (const revision of Object.keys(firstMessages) as (keyof typeof firstMessages)[]) {
    sections.push(await coldStart(revision, { runs, env, folder: folder.path }))
  }
  return [...sections, await idle(env, folder.path)]
}

async function coldStart(
  revision: keyof typeof firstMessages,
  { runs, env, folder }: { runs: number; env: Record<string, string>; folder: string },
): Promise<Section> {
  const messages = firstMessages[revision]
  const first = await timeStart([bin], messages, { env, thenMs: 3000 })
  const raw = join(folder, 'raw.mjs')
  writeFileSync(raw, rawScript(first.answers))
  const ours: number[] = []
  const floor: number[] = []
  for (let run = 0; run < runs; run++) {
    ours.push((await timeStart([bin], messages, { env })).ms)
    floor.push((await timeStart([raw], messages)).ms)
  }
  return {
    title: `cold start to tools/list over stdio, ${revision}`,
    unit: 'ms',
    values: {
      ours: round(median(ours), 1),
      'raw script': round(median(floor), 1),
      'first start of all': round(first.ms, 1),
    },
    goals: [
      { name: 'times the raw script', value: round(median(ours) / median(floor)), atMost: 2 },
    ],
  }
}

/**
 * Measures a server ten seconds after its client has listed the tools. All code is loaded by then.
 */
async function idle(env: Record<string, string>, folder: string): Promise<Section> {
  const ours = await timeStart([bin], firstMessages[2025], { env, thenMs: 10_000 })
  const script = join(folder, 'bare.mjs')
  writeFileSync(script, `process.stdin.on('data', () => process.stdout.write('{"id":0}\\n'))`)
  const bare = await timeStart([script], [[list]], { thenMs: 3000 })
  return {
    title: 'idle over stdio',
    unit: 'MB',
    values: { ours: round(ours.memory, 1), 'bare Node': round(bare.memory, 1) },
    goals: [{ name: 'times bare Node', value: round(ours.memory / bare.memory), atMost: 2.2 }],
  }
}
