import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { median, program, round, scratch, usage } from './processes.ts'
import type { Section } from './report.ts'

const prefix = 'io.modelcontextprotocol'
const clientInfo = { name: 'bench', version: '1.0.0' }
const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
}
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const modernList = {
  ...list,
  params: {
    _meta: {
      [`${prefix}/protocolVersion`]: '2026-07-28',
      [`${prefix}/clientInfo`]: clientInfo,
      [`${prefix}/clientCapabilities`]: {},
    },
  },
}

/** What is said at the start, each line once the one before is answered. */
const beginnings = { 2025: [[initialize], [initialized, list]], '2026-07-28': [[modernList]] }

const Answer = z.looseObject({ id: z.number() })

interface Started {
  /** From the spawn to the answer to the list, ms. */
  readonly ms: number
  /** Every answer, as it came. */
  readonly answers: string[]
  /** Memory a while after the last answer, MB. */
  readonly memory: number
}

/** Starts a program and talks to it until it has listed its tools. */
async function started(
  args: readonly string[],
  said: readonly (readonly object[])[],
  { env = {}, thenMs = 0 }: { env?: Record<string, string>; thenMs?: number } = {},
): Promise<Started> {
  const began = performance.now()
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  })
  const answers: string[] = []
  const say = (lines: readonly object[] = []) =>
    child.stdin.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  say(said[0])
  for await (const line of createInterface(child.stdout)) {
    answers.push(line)
    if (answers.length === said.length) break
    say(said[answers.length])
  }
  const ms = performance.now() - began
  await sleep(thenMs)
  const { memory } = usage(child)
  child.kill('SIGKILL')
  await once(child, 'close')
  return { ms, answers, memory }
}

/** A script that knows nothing but these answers: the least that any server in Node can be. */
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

/** From the spawn to the list of tools, and what the program takes when nothing is asked. */
export async function stdio(runs: number): Promise<Section[]> {
  using folder = scratch()
  const env = {
    VOICE_AGENT_SANDBOX_DB: join(folder.path, 'sandbox.db'),
    VOICE_AGENT_STATE_DIR: ':memory:',
    NODE_COMPILE_CACHE: join(folder.path, 'cache'),
  }
  const sections: Section[] = []
  const raw = join(folder.path, 'raw.mjs')
  for (const [era, said] of Object.entries(beginnings)) {
    const first = await started([program], said, { env, thenMs: 3000 })
    writeFileSync(raw, rawScript(first.answers))
    const ours: number[] = []
    const floor: number[] = []
    for (let run = 0; run < runs; run++) {
      ours.push((await started([program], said, { env })).ms)
      floor.push((await started([raw], said)).ms)
    }
    sections.push({
      title: `cold start to tools/list over stdio, ${era}`,
      unit: 'ms',
      values: {
        ours: round(median(ours), 1),
        'raw script': round(median(floor), 1),
        'first start of all': round(first.ms, 1),
      },
      goals: [
        { name: 'times the raw script', value: round(median(ours) / median(floor)), atMost: 2 },
      ],
    })
  }
  // Not opened yet: a client that has only listed the tools, ten seconds later.
  const idle = await started([program], beginnings[2025], { env, thenMs: 10_000 })
  const bare = join(folder.path, 'bare.mjs')
  writeFileSync(bare, `process.stdin.on('data', () => process.stdout.write('{"id":0}\\n'))`)
  const empty = await started([bare], [[list]], { thenMs: 3000 })
  sections.push({
    title: 'idle over stdio',
    unit: 'MB',
    values: { ours: round(idle.memory, 1), 'bare Node': round(empty.memory, 1) },
    goals: [{ name: 'times bare Node', value: round(idle.memory / empty.memory), atMost: 1.35 }],
  })
  return sections
}
