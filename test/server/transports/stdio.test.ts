import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { clientMeta } from '../../harness/mcp-request.ts'
import { type Program, quietly, scratchFolder, startProgram } from '../../harness/program.ts'
import { startRunningCallsPlatform } from '../../harness/running-calls-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

const start = (env: Record<string, string> = {}) =>
  startProgram([], { VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly, ...env })

const hello = (capabilities: object = {}) => [
  {
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 'test', version: '1' },
    },
  },
  { method: 'notifications/initialized' },
]
const call = (id: number, name: string, args: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})
/** The same message in revision 2026-07-28. */
const later = ({ params, ...message }: { id: number; method: string; params?: object }) => ({
  ...message,
  params: { ...params, _meta: clientMeta({}) },
})

const say = ({ process: { stdin } }: Program, ...messages: readonly object[]) =>
  stdin?.write(messages.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''))

const Message = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  result: z
    .looseObject({
      tools: z.unknown().optional(),
      structuredContent: z.looseObject({ id: z.string().optional() }).optional(),
    })
    .optional(),
})
const answersIn = ({ stdout }: Program) =>
  stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => Message.parse(JSON.parse(line)))
const until = (program: Program, count: number) =>
  expect.poll(() => answersIn(program).length, { interval: 20, timeout: 10_000 }).toBe(count)

test('a client that stops reading while the SDK is loaded ends the connection', async () => {
  await using program = start()
  await program.waitFor(/SANDBOX/)
  program.process.stdout?.destroy()
  say(program, ...hello(), call(1, 'get_current_account'))
  expect(await program.exited).toBe(0)
  expect(program.stderr()).not.toMatch(/EPIPE|\n +at /)
})

test('a client that gives every request the same id gets each answer once', async () => {
  await using program = start()
  say(program, later({ id: 1, method: 'tools/list' }))
  await until(program, 1)
  say(program, later({ id: 1, method: 'tools/list' }))
  await until(program, 2)
  say(program, later(call(1, 'get_current_account')))
  await until(program, 3)
  program.process.stdin?.end()
  expect(await program.exited).toBe(0)
  const lists = answersIn(program).map(({ result }) => result?.tools !== undefined)
  expect(lists).toEqual([true, true, false])
})

test('a cancellation after the answer does not hold back a later answer', async () => {
  await using program = start()
  const cancel = { method: 'notifications/cancelled', params: { requestId: 1 } }
  say(program, later({ id: 1, method: 'tools/list' }), cancel, later(call(2, 'list_models')))
  await until(program, 2)
  say(program, later(call(1, 'get_current_account')))
  program.process.stdin?.end()
  expect(await program.exited).toBe(0)
  expect(answersIn(program).map(({ id }) => id)).toEqual([1, 2, 1])
})

/** Places a call, then waits for it with this timeout. */
async function waitForCall(program: Program, timeout_seconds: number): Promise<void> {
  const place = call(1, 'place_call', {
    type: 'phone',
    agent_id: seedIds.supportAgent,
    from_number: '+12025550110',
    to_number: '+12025550106',
  })
  say(program, ...hello(), place)
  await until(program, 2)
  const call_id = answersIn(program)[1]?.result?.structuredContent?.id
  say(program, call(2, 'wait_for_call', { call_id, timeout_seconds }))
  await sleep(300)
}

test('a wait for a call ends when the input ends, and its answer tells the state of the call', async () => {
  await using program = start({ VOICE_AGENT_SANDBOX_SPEED: '1' })
  await waitForCall(program, 50)
  const began = Date.now()
  program.process.stdin?.end()
  expect(await program.exited).toBe(0)
  // Far less than the 50 s of the wait, even on a slow machine.
  expect(Date.now() - began).toBeLessThan(15_000)
  const result = { structuredContent: { ended: false } }
  expect(answersIn(program).at(-1)).toMatchObject({ id: 2, result })
})

test('placing a call is finished when the input ends', async () => {
  await using platform = await startRunningCallsPlatform({ answerMs: 1500 })
  using folder = scratchFolder()
  const env = { ...platform.env, VOICE_AGENT_STATE_DIR: folder.path }
  const place = call(1, 'place_call', {
    type: 'phone',
    agent_id: platform.agent.id,
    from_number: '+493023125000',
    to_number: '+493023125001',
    follow: true,
  })
  await using program = start(env)
  say(program, ...hello(), place)
  await expect.poll(() => platform.dialled.length, { timeout: 10_000 }).toBe(1)
  program.process.stdin?.end()
  expect(await program.exited).toBe(0)
  expect(answersIn(program).at(-1)).toMatchObject({
    result: { structuredContent: { id: 'call-0' } },
  })
  await using next = start(env)
  say(next, ...hello(), place)
  next.process.stdin?.end()
  expect(await next.exited).toBe(0)
  expect(answersIn(next).at(-1)).toMatchObject({
    result: { structuredContent: { id: 'call-0', repeated: true } },
  })
  expect(platform.dialled).toHaveLength(1)
})

test('a server that is told to stop does not wait for the end of a call', async () => {
  await using program = start({ VOICE_AGENT_SANDBOX_SPEED: '1' })
  await waitForCall(program, 30)
  const began = Date.now()
  program.process.kill('SIGTERM')
  expect(await program.exited).toBe(0)
  expect(Date.now() - began).toBeLessThan(8000)
})

test('a question to a client that has gone is not waited for', async () => {
  await using program = start({ VOICE_AGENT_CONFIRM: 'auto' })
  const ask = (id: number) => call(id, 'archive_agent', { agent_id: seedIds.supportAgent })
  say(program, ...hello({ elicitation: {} }), ask(1))
  await until(program, 2)
  expect(answersIn(program)[1]?.method).toBe('elicitation/create')
  // The second question arrives after the client has disconnected.
  say(program, ask(2))
  program.process.stdin?.end()
  expect(await program.exited).toBe(0)
  const answers = answersIn(program).filter(({ method }) => method === undefined)
  expect(answers.map(({ id }) => id).toSorted()).toEqual([0, 1, 2])
})
