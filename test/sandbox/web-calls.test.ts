import { join as pathOf } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { startLlm, stream } from '../harness/fake-llm.ts'
import { scratchFolder } from '../harness/program.ts'
import { seedIds, startSandbox } from '../harness/sandbox.ts'

type Sandbox = ReturnType<typeof startSandbox>

/** State of a call, or the error of a refused action. */
const Answer = z.looseObject({
  phase: z.string().optional(),
  messages: z.array(z.object({ role: z.string(), message: z.string() })).default([]),
})

const german = '00000000-0000-4000-8002-000000000003'

/** Places a web call. Returns the actions of its page. */
async function webCall(sandbox: Sandbox, more: object = {}) {
  const body = { type: 'web', agent_id: seedIds.supportAgent, ...more }
  const placed = await sandbox.send('POST', 'accounts/me/calls', body)
  const { id, join } = placed.body
  const act = async (fields: Record<string, string>) => {
    const response = await sandbox.fetch(
      new Request(join.page_url, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams(fields),
      }),
    )
    return { ...Answer.parse(await response.json()), http: response.status }
  }
  return {
    id,
    join,
    placed,
    act,
    state: async () => (await sandbox.fetch(new Request(`${join.page_url}/state`))).json(),
    call: async () => (await sandbox.get(`accounts/me/calls/${id}`)).body,
  }
}

const texts = ({ messages }: { messages: { role: string; message: string }[] }) =>
  messages.map(({ role, message }) => `${role}: ${message}`)

describe('a web call', () => {
  test('waits for a person, who talks with the agent; get_call and the list show the same', async () => {
    using sandbox = startSandbox({ webWaitMs: 60_000, speed: 10 })
    const { id, act, call, state } = await webCall(sandbox)
    sandbox.wait(50)
    expect(await call()).toMatchObject({
      status: 'in_progress',
      answer_status: 'waiting',
      messages: [],
    })
    expect(await state()).toMatchObject({ phase: 'waiting', messages: [] })
    expect(await act({ action: 'join' })).toMatchObject({ phase: 'talking' })
    sandbox.wait(4)
    await act({ action: 'say', text: 'Can I book an appointment?' })
    sandbox.wait(6)
    const ended = await act({ action: 'hang_up' })
    expect(texts(ended)).toEqual([
      expect.stringMatching(/^event: .*\brules\b/),
      expect.stringMatching(/^agent: .*\bSam\b/),
      'user: Can I book an appointment?',
      expect.stringMatching(/^agent: .*\bday and time\b/),
      'event: The caller hung up.',
    ])
    const shown = await call()
    expect(texts(shown)).toEqual(texts(ended))
    // Web calls last as long as in real time, whatever the sandbox's speed.
    expect(shown).toMatchObject({
      status: 'completed',
      answer_status: 'human',
      duration_seconds: 10,
    })
    const list = await sandbox.get(`accounts/me/conversations?conversation_id=${id}`)
    expect(list.body.items[0].messages).toEqual(shown.messages)
  })

  test('goes to the simulated caller if nobody joins', async () => {
    using sandbox = startSandbox({ webWaitMs: 60_000, speed: 10 })
    const { act, call, state } = await webCall(sandbox)
    sandbox.wait(61)
    expect(await state()).toMatchObject({ phase: 'watching' })
    expect(await act({ action: 'join' })).toMatchObject({ http: 409, phase: 'watching' })
    expect(await act({ action: 'say', text: 'Hello' })).toMatchObject({ http: 409 })
    sandbox.wait(30)
    expect(await call()).toMatchObject({ status: 'completed' })
    expect(await state()).toMatchObject({ phase: 'ended' })
  })

  test("ends by itself if the person says nothing, after the times in the agent's settings", async () => {
    using sandbox = startSandbox({ webWaitMs: 60_000, speed: 10 })
    const { act, call } = await webCall(sandbox, {
      overrides: {
        inactivity_settings: { reminder_timeout_ms: 5000, end_call_timeout_ms: 20_000 },
      },
    })
    await act({ action: 'join' })
    sandbox.wait(15)
    expect((await call()).status).toBe('in_progress')
    await act({ action: 'typing' })
    sandbox.wait(15)
    expect((await call()).status).toBe('in_progress')
    sandbox.wait(30)
    const { status, messages } = await call()
    expect(status).toBe('completed')
    expect(messages.at(-1).message).toMatch(/\bsilent\b/)
    expect(await act({ action: 'say', text: 'Hello?' })).toMatchObject({
      http: 409,
      phase: 'ended',
      error: expect.any(String),
    })
  })

  test('is counted in usage with the time that the person talked', async () => {
    using sandbox = startSandbox({ webWaitMs: 60_000, speed: 10 })
    const usage = async () => {
      const start = new Date(sandbox.now() - 3_600_000).toISOString()
      const { body } = await sandbox.get(
        `accounts/me/analytics/usage?granularity=day&start=${start}&end=${new Date(sandbox.now() + 60_000).toISOString()}`,
      )
      return body.data.reduce(
        (sum: number[], { values }: { values: { seconds: number; conversations: number }[] }) => [
          (sum[0] ?? 0) + (values[0]?.seconds ?? 0),
          (sum[1] ?? 0) + (values[0]?.conversations ?? 0),
        ],
        [],
      )
    }
    const [seconds, conversations] = await usage()
    const { act } = await webCall(sandbox)
    await act({ action: 'join' })
    sandbox.wait(70)
    expect(await usage()).toEqual([seconds, conversations])
    await act({ action: 'hang_up' })
    expect(await usage()).toEqual([seconds + 70, conversations + 1])
  })

  test('is joined by one person, with the token of its own address only', async () => {
    using sandbox = startSandbox({ webWaitMs: 60_000 })
    const { act, join, id } = await webCall(sandbox)
    // Nobody can guess a token of 122 random bits.
    expect(join.page_url).toMatch(/\/web-calls\/[\da-f]{32}$/)
    expect(join.page_url).not.toContain(id)
    await act({ action: 'join' })
    expect(await act({ action: 'join' })).toMatchObject({ http: 409, phase: 'talking' })
    for (const token of [id, `sandbox-${id}`, '', '%00', 'x/state']) {
      const page = await sandbox.fetch(new Request(`http://sandbox/web-calls/${token}`))
      expect(page.status, token).toBe(404)
    }
  })

  test('can be ended when its transcript is full', async () => {
    using sandbox = startSandbox({ webWaitMs: 60_000 })
    const { act, call } = await webCall(sandbox)
    let answer = await act({ action: 'join' })
    while (answer.http === 200) answer = await act({ action: 'say', text: 'Hello?' })
    expect(answer).toMatchObject({ http: 409, phase: 'talking' })
    expect(answer.messages.length).toBeLessThanOrEqual(1001)
    expect(await act({ action: 'hang_up' })).toMatchObject({ http: 200, phase: 'ended' })
    expect(await call()).toMatchObject({ status: 'completed' })
  })

  test('starts with initial_text, which can replace the greeting', async () => {
    using sandbox = startSandbox({ webWaitMs: 60_000 })
    const { act } = await webCall(sandbox, {
      initial_text: 'My order is late.',
      skip_greeting_on_initial_text: true,
    })
    expect(texts(await act({ action: 'join' })).slice(1)).toEqual([
      'user: My order is late.',
      expect.stringMatching(/^agent: .*\border number\b/),
    ])
  })

  test("is held in the agent's language, and the agent hangs up if its settings allow it", async () => {
    using sandbox = startSandbox({ webWaitMs: 60_000 })
    const { act } = await webCall(sandbox, {
      agent_id: german,
      overrides: { allow_auto_hangup: true },
    })
    await act({ action: 'join' })
    await act({ action: 'say', text: 'Ich möchte meinen Termin verschieben.' })
    const { phase, messages } = await act({ action: 'say', text: 'Das war alles, tschüss' })
    expect(texts({ messages }).slice(2)).toEqual([
      'user: Ich möchte meinen Termin verschieben.',
      expect.stringMatching(/^agent: .*\bTag\b.*\bUhrzeit\b/),
      'user: Das war alles, tschüss',
      expect.stringMatching(/^agent: .*\bTerminservice\b.*Wiederhören/),
      expect.stringMatching(/^event: .*\bagent\b/),
    ])
    expect(phase).toBe('ended')
  })

  test.each([
    ['nothing', { action: 'say', text: ' ' }, /\b1000\b/],
    ['too much', { action: 'say', text: 'x'.repeat(1001) }, /\b1000\b/],
    ['far too much', { action: 'say', text: 'x'.repeat(100_000) }, /\b1000\b/],
    ['something unknown', { action: 'shout' }, /\bjoin, say, typing, hang_up\b/],
    ['no action', { text: 'Hello' }, /\bjoin, say, typing, hang_up\b/],
  ])('refuses %s', async (_, fields, error) => {
    using sandbox = startSandbox({ webWaitMs: 60_000 })
    const { act } = await webCall(sandbox)
    await act({ action: 'join' })
    expect(await act(fields)).toMatchObject({ http: 422, error: expect.stringMatching(error) })
  })

  test('can be joined after a restart', async () => {
    using folder = scratchFolder()
    const file = pathOf(folder.path, 'sandbox.db')
    const first = startSandbox({ file, webWaitMs: 60_000 })
    const { act, join } = await webCall(first)
    await act({ action: 'join' })
    first[Symbol.dispose]()
    using second = startSandbox({ file, webWaitMs: 60_000 })
    const page = await second.fetch(new Request(`${join.page_url}/state`))
    expect(await page.json()).toMatchObject({ phase: 'talking' })
  })
})

describe('with a language model', () => {
  const withModel = (url: string) =>
    startSandbox({ webWaitMs: 60_000, llm: { url, model: 'stand-in', timeoutMs: 2000 } })

  test('the model speaks for the agent only, and hears what was said', async () => {
    await using llm = await startLlm((_, response) => stream(response, 'We open at nine. [END]'))
    using sandbox = withModel(llm.url)
    const { act, call } = await webCall(sandbox)
    // Nobody speaks while the call waits.
    expect(await call()).toMatchObject({ status: 'in_progress', answer_status: 'waiting' })
    await act({ action: 'join' })
    const said = await act({ action: 'say', text: 'When do you open?' })
    expect(texts(said)).toEqual([
      expect.stringMatching(/^event: .*\bstand-in\b/),
      expect.stringMatching(/^agent: .*\bSam\b/),
      'user: When do you open?',
      'agent: We open at nine.',
    ])
    expect(llm.seen).toHaveLength(1)
    expect(llm.seen[0]?.messages.slice(1)).toEqual([
      { role: 'assistant', content: said.messages[1]?.message },
      { role: 'user', content: 'When do you open?' },
    ])
    await act({ action: 'hang_up' })
    expect(await call()).toMatchObject({ status: 'completed' })
  })

  test('a failure of the model keeps what the person said, and the call goes on', async () => {
    await using llm = await startLlm((_, response) => void response.writeHead(500).end())
    using sandbox = withModel(llm.url)
    const { act } = await webCall(sandbox)
    await act({ action: 'join' })
    const said = await act({ action: 'say', text: 'Hello?' })
    expect(texts(said).slice(2)).toEqual([
      'user: Hello?',
      expect.stringMatching(/^event: .*\bHTTP 500\b/),
    ])
    expect(said).toMatchObject({ http: 200, phase: 'talking' })
  })

  test('an answer that comes after the person has hung up is not added', async () => {
    const asked = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    await using llm = await startLlm(async (_, response) => {
      asked.resolve()
      await released.promise
      stream(response, 'Too late.')
    })
    using sandbox = withModel(llm.url)
    const { act, call } = await webCall(sandbox)
    await act({ action: 'join' })
    const answered = act({ action: 'say', text: 'Hello?' })
    await asked.promise
    sandbox.wait(3)
    await act({ action: 'hang_up' })
    released.resolve()
    expect(await answered).toMatchObject({ http: 409, phase: 'ended' })
    expect(JSON.stringify(await call())).not.toContain('Too late')
  })
})

test('without a server for pages, a web call is answered at once and has no page', async () => {
  using sandbox = startSandbox()
  const { placed, join } = await webCall(sandbox)
  expect(placed.status).toBe(201)
  expect(join.page_url).toBeUndefined()
  expect(placed.body.answer_status).toBe('human')
})
