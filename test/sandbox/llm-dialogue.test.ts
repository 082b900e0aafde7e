import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { openSandbox } from '../../src/sandbox/sandbox.ts'
import { startLlm, stream } from '../harness/fake-llm.ts'
import { scratchFolder, startPlatformProgram } from '../harness/program.ts'
import { sandboxKeys, seedIds } from '../harness/sandbox.ts'

const phone = {
  type: 'phone',
  agent_id: seedIds.supportAgent,
  from_number: '+12025550110',
  to_number: '+493012345678',
}

interface Detail {
  id: string
  status: string
  duration_seconds: number
  messages: { role: string; message: string }[]
}

/** A sandbox with calls by a language model, a thousand times faster than real time. */
function open(llm: { url: string; apiKey?: string; timeoutMs?: number }, file = ':memory:') {
  const sandbox = openSandbox({ file, speed: 1000, llm: { model: 'stand-in', ...llm } })
  const send = async (method: string, path: string, body?: object): Promise<Detail> => {
    const response = await sandbox.fetch(
      new Request(`http://x/v1/accounts/me/${path}`, {
        method,
        headers: { 'x-api-key': sandboxKeys.main },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
    return (await response.json()) as Detail
  }
  return {
    place: (more: object = {}) => send('POST', 'calls', { ...phone, ...more }),
    get: (id: string) => send('GET', `calls/${id}`),
    async ended(id: string) {
      for (;;) {
        const call = await send('GET', `calls/${id}`)
        if (call.status !== 'in_progress') return call
        await sleep(20)
      }
    },
    [Symbol.dispose]: () => sandbox.close(),
  }
}

const spoken = ({ messages }: Detail) =>
  messages.filter(({ role }) => role !== 'event').map(({ role, message }) => `${role}: ${message}`)
const events = ({ messages }: Detail) =>
  messages.filter(({ role }) => role === 'event').map(({ message }) => message)

const turns = ['Who is there?', 'The support line.', 'Wrong number, goodbye. [END]']

describe('a conversation', () => {
  test('comes from the endpoint, turn by turn, until one side says goodbye', async () => {
    await using llm = await startLlm((_, response, turn) => stream(response, turns[turn] ?? ''))
    using sandbox = open({ url: llm.url, apiKey: 'llm-key' })
    const { id } = await sandbox.place({
      test_variables: {
        caller_persona: 'You are a grumpy plumber.',
        'contact.first_name': 'Erika',
      },
    })
    const call = await sandbox.ended(id)
    expect(call.status).toBe('completed')
    expect(spoken(call)).toEqual([
      expect.stringMatching(/^agent: .*\bErika\b/),
      'user: Who is there?',
      'agent: The support line.',
      'user: Wrong number, goodbye.',
    ])
    expect(events(call)).toEqual([
      expect.stringContaining('stand-in'),
      expect.stringMatching(/\bcaller\b/),
    ])
    expect(call.duration_seconds).toBeGreaterThan(5)
  })

  test('is sent for each side with the side’s own lines in the role assistant', async () => {
    await using llm = await startLlm((_, response, turn) => stream(response, turns[turn] ?? ''))
    using sandbox = open({ url: llm.url, apiKey: 'llm-key' })
    const { id } = await sandbox.place({ test_variables: { caller_persona: 'A grumpy plumber.' } })
    await sandbox.ended(id)
    const [caller, agent] = llm.seen
    expect(caller).toMatchObject({ model: 'stand-in', authorization: 'Bearer llm-key' })
    expect(caller?.messages[0]).toMatchObject({
      role: 'system',
      content: expect.stringContaining('A grumpy plumber.'),
    })
    expect(caller?.messages.slice(1).map(({ role }) => role)).toEqual(['user'])
    expect(agent?.messages[0]?.content).toContain('Support line')
    expect(agent?.messages.slice(1).map(({ role }) => role)).toEqual(['assistant', 'user'])
  })

  test.each([
    [true, { voice: { language: 'de-de' } }],
    [true, { voice: { language: null }, transcriber: { languages: ['de'] } }],
    [false, { voice: { language: 'en-gb' } }],
  ])('is asked for in German: %o, of each side, with %j', async (isGerman, overrides) => {
    await using llm = await startLlm((_, response, turn) => stream(response, turns[turn] ?? ''))
    using sandbox = open({ url: llm.url })
    const { id } = await sandbox.place({ overrides })
    await sandbox.ended(id)
    const instructions = llm.seen.map(({ messages }) => messages[0]?.content)
    expect(instructions.map((text) => text?.includes('German'))).toEqual(turns.map(() => isGerman))
  })

  test('is counted in usage once it is completed', async () => {
    await using llm = await startLlm((_, response) => stream(response, 'Bye. [END]'))
    using folder = scratchFolder()
    using sandbox = open({ url: llm.url }, join(folder.path, 'sandbox.db'))
    const { id } = await sandbox.place()
    await sandbox.ended(id)
    const start = encodeURIComponent(new Date(Date.now() - 60_000).toISOString())
    const usage = (await sandbox.get(`../analytics/usage?start=${start}&limit=1`)) as unknown as {
      data: { values: { conversations: number }[] }[]
    }
    expect(usage.data[0]?.values[0]?.conversations).toBe(1)
  })

  test('ends at the maximum duration, and after a maximum number of turns', async () => {
    await using llm = await startLlm((_, response) =>
      stream(response, 'And another thing. '.repeat(20)),
    )
    using sandbox = open({ url: llm.url })
    const { id } = await sandbox.place({ overrides: { max_duration_seconds: 30 } })
    const call = await sandbox.ended(id)
    expect(call).toMatchObject({ status: 'completed', duration_seconds: 30 })
    expect(events(call).at(-1)).toMatch(/\bduration\b/)
    const { id: endless } = await sandbox.place({ overrides: { max_duration_seconds: 43_200 } })
    expect((await sandbox.ended(endless)).status).toBe('completed')
    expect(llm.seen.length).toBeLessThan(60)
  })

  test('to a magic destination stays as documented', async () => {
    await using llm = await startLlm((_, response) => stream(response, 'Hello. [END]'))
    using sandbox = open({ url: llm.url })
    const { id } = await sandbox.place({ to_number: '+12025550101' })
    expect((await sandbox.ended(id)).status).toBe('failed')
    expect(llm.seen).toHaveLength(0)
  })
})

describe('an endpoint that', () => {
  const failing: [string, (response: ServerResponse) => void, RegExp][] = [
    ['answers with an error', (response) => response.writeHead(500).end(), /HTTP 500/],
    [
      'redirects',
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      /\bconnection\b/,
    ],
    ['closes the connection', (response) => response.destroy(), /\bconnection\b/],
    ['says nothing', (response) => stream(response, ''), /\bnothing\b/],
    [
      'talks nonsense',
      (response) => response.writeHead(200).end('data: {"x":\n\n'),
      /chat completion/,
    ],
    [
      'speaks another protocol',
      (response) => response.writeHead(200).end('data: {"text":"hi"}\n\n'),
      /chat completion/,
    ],
    [
      'answers in HTML',
      (response) => response.writeHead(200).end('<html>'),
      /\bconnection\b|broke off/,
    ],
    [
      'breaks off',
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n')
        setTimeout(() => response.destroy(), 20)
      },
      /\bconnection\b|broke off/,
    ],
    ['is too slow', () => {}, /longer than 0\.2 s/],
  ]
  test.each(failing)('%s fails the call, and nothing else', async (what, answer, message) => {
    await using llm = await startLlm((_, response) => answer(response))
    const timeoutMs = what === 'is too slow' ? 200 : 20_000
    using sandbox = open({ url: llm.url, timeoutMs, apiKey: 'llm-secret' })
    const { id } = await sandbox.place()
    const call = await sandbox.ended(id)
    expect(call.status).toBe('failed')
    expect(events(call).at(-1)).toMatch(message)
    expect(JSON.stringify(call)).not.toContain('llm-secret')
    expect((await sandbox.place({ to_number: '+12025550100' })).status).toBe('in_progress')
  })

  test('cannot be reached fails the call', async () => {
    using sandbox = open({ url: 'http://127.0.0.1:9' })
    const { id } = await sandbox.place()
    const call = await sandbox.ended(id)
    expect(events(call).at(-1)).toMatch(/\bconnection\b/)
  })
})

test('a sandbox that dies during a call leaves it failed, with what was said until then', async () => {
  await using llm = await startLlm((_, response, turn) => {
    if (turn < 2) stream(response, `Turn ${turn}`)
  })
  using folder = scratchFolder()
  const file = join(folder.path, 'sandbox.db')
  let id = ''
  {
    await using platform = await startPlatformProgram({
      VOICE_AGENT_SANDBOX_DB: file,
      VOICE_AGENT_SANDBOX_LLM_URL: llm.url,
      VOICE_AGENT_SANDBOX_LLM_MODEL: 'stand-in',
    })
    const response = await fetch(`${platform.url}/v1/accounts/me/calls`, {
      method: 'POST',
      headers: { 'x-api-key': sandboxKeys.main },
      body: JSON.stringify(phone),
    })
    id = ((await response.json()) as Detail).id
    while (llm.seen.length < 3) await sleep(20)
    platform.process.kill('SIGKILL')
    await platform.exited
  }
  const later = Date.now() + 3_600_000
  const sandbox = openSandbox({ file, speed: 1, now: () => later })
  const response = await sandbox.fetch(
    new Request(`http://x/v1/accounts/me/calls/${id}`, {
      headers: { 'x-api-key': sandboxKeys.main },
    }),
  )
  const call = (await response.json()) as Detail
  sandbox.close()
  expect(call.status).toBe('failed')
  expect(spoken(call).slice(1)).toEqual(['user: Turn 0', 'agent: Turn 1'])
  expect(events(call).at(-1)).toMatch(/sandbox stopped/)
})
