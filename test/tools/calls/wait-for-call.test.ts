import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callTaskView, waitedCallOutput } from '../../../tools/calls/follow-calls.ts'
import { connectPerson, type Person } from '../../harness/answering-client.ts'
import { clientKinds, errorOf } from '../../harness/client.ts'
import { type Program, startHttpProgram } from '../../harness/program.ts'
import { rpc } from '../../harness/rpc.ts'
import { startRunningCallsPlatform } from '../../harness/running-calls-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'
import { settableClock } from '../../harness/settable-clock.ts'

const transports = ['stdio', 'HTTP'] as const
const everyClient = clientKinds.flatMap((kind) =>
  transports.map((transport) => [kind, transport] as const),
)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const never = { VOICE_AGENT_CONFIRM: 'never' }

/** Starts a program over HTTP. Connects clients to that, or each to its own over stdio. */
function programs(env: () => Record<string, string>) {
  let http: Program & { url: string }
  beforeAll(async () => {
    http = await startHttpProgram({ ...env(), ...never })
  })
  afterAll(() => http[Symbol.asyncDispose]())
  return (kind: (typeof clientKinds)[number], transport: (typeof transports)[number]) =>
    connectPerson(kind, transport === 'HTTP' ? { url: http.url } : { env: { ...env(), ...never } })
}

describe('a call in the sandbox', () => {
  const connect = programs(() => ({ VOICE_AGENT_SANDBOX_SPEED: '9' }))
  const place = async ({ value }: Person, more: object = {}) => {
    const { id } = await value('place_call', {
      type: 'phone',
      agent_id: seedIds.supportAgent,
      from_number: '+12025550110',
      to_number: '+12025550100',
      ...more,
    })
    return { call_id: String(id) }
  }

  describe.concurrent.each(everyClient)('of a %s client over %s', (kind, transport) => {
    test('is reported as progress, never after the result, and returned at its end', async () => {
      await using client = await connect(kind, transport)
      const call = await place(client, { external_id: `${kind} ${transport}` })
      const progress: string[] = []
      const onProgress = (message: string) => void progress.push(message)
      const result = await client.call('wait_for_call', call, { onProgress })
      const count = progress.length
      for (const message of progress)
        expect(message).toMatch(/^[\w ]+, \d+ s(; [^"]*UNTRUSTED[^"]* of \w+: ".+")?$/)
      expect(progress.at(-1)).toMatch(/^[\w ]+ human, \d+ s; [^"]*UNTRUSTED/)
      expect(result.structuredContent).toMatchObject({ ended: true, status: 'completed' })
      expect(result.content[0]?.text).toMatch(/\n<untrusted-speech /)
      expect(await client.flaws('wait_for_call', result)).toBeUndefined()
      await pause(500)
      expect(progress).toHaveLength(count)
    })
  })

  test('that lasts longer than the wait is returned as it is, with the way to keep waiting', async () => {
    await using client = await connect('v2 2026-07-28', 'HTTP')
    const call = await place(client, { to_number: '+12025550106' })
    const progress: string[] = []
    const onProgress = (message: string) => void progress.push(message)
    const args = { ...call, timeout_seconds: 1 }
    const result = await client.call('wait_for_call', args, { onProgress })
    expect(result.structuredContent).toMatchObject({ ended: false, status: 'in_progress' })
    expect(result.content[0]?.text).toContain(`wait_for_call, call_id ${call.call_id}`)
    // No progress message, because it would come just before the result.
    expect(progress).toEqual([])
  })

  test('that has ended is returned at once', async () => {
    await using client = await connect('v2 2026-07-28', 'HTTP')
    const { items } = await client.value('list_calls', { status: 'failed', limit: 1 })
    const [{ id: call_id } = { id: '' }] = items as { id: string }[]
    const progress: string[] = []
    const onProgress = (message: string) => void progress.push(message)
    const result = await client.call('wait_for_call', { call_id }, { onProgress })
    expect(result.structuredContent).toMatchObject({ ended: true })
    expect(progress).toEqual([])
  })

  test('that does not exist is an error', async () => {
    await using client = await connect('v2 2026-07-28', 'HTTP')
    const result = await client.call('wait_for_call', { call_id: 'nothing' })
    expect(errorOf(result)).toMatchObject({ tool: 'wait_for_call', status: 404 })
  })
})

describe('the platform', () => {
  let platform: Awaited<ReturnType<typeof startRunningCallsPlatform>>
  beforeAll(async () => {
    platform = await startRunningCallsPlatform()
  })
  afterAll(() => platform[Symbol.asyncDispose]())
  const connect = programs(() => platform.env)

  test('is read at one pace, however many clients wait for the same call', async () => {
    const clients = await Promise.all(clientKinds.map((kind) => connect(kind, 'HTTP')))
    // Warm-up: a client's first call keeps this process, and with it the platform, busy.
    for (const client of clients) await client.call('list_calls')
    const began = Date.now()
    const waits = Array.from({ length: 50 }, (_, at) =>
      clients[at % clients.length]?.call('wait_for_call', { call_id: 'popular' }),
    )
    await pause(2000)
    platform.end('popular')
    const results = await Promise.all(waits)
    expect(results.filter((result) => result?.structuredContent?.ended === true)).toHaveLength(50)
    // One read per second, shared by all 50 waits.
    expect(platform.reads('popular')).toBeLessThan(2 + (Date.now() - began) / 1000)
    for (const client of clients) await client[Symbol.asyncDispose]()
    // Time to start a program for each kind of client on a busy machine.
  }, 60_000)

  test('reports an unanswered call: first that it rings, then its end', async () => {
    await using client = await connect('v2 2026-07-28', 'HTTP')
    const progress: string[] = []
    const onProgress = (message: string) => {
      progress.push(message)
      platform.endUnanswered('unanswered')
    }
    const args = { call_id: 'unanswered' }
    const result = await client.call('wait_for_call', args, { onProgress })
    expect(progress[0]).toMatch(/^ringing, \d+ s$/)
    expect(result.structuredContent).toMatchObject({
      ended: true,
      status: 'failed',
      answer_status: 'user_unavailable',
    })
  })

  test('that shows a call late is polled again, if this server placed the call', async () => {
    await using client = await connect('v2 2026-07-28', 'HTTP')
    const call = { type: 'phone', from_number: '+12025550110', to_number: '+12025550139' }
    const placed = await client.value('place_call', { ...call, agent_id: platform.agent.id })
    platform.hide(true)
    const call_id = String(placed.id)
    setTimeout(() => {
      platform.end(call_id)
      platform.hide(false)
    }, 5000)
    expect(await client.value('wait_for_call', { call_id })).toMatchObject({ ended: true })
  }, 40_000)

  test.skipIf(process.platform === 'win32')(
    'that shows a call only after a while is waited for though the clock was set meanwhile',
    async () => {
      await using program = await startHttpProgram({ ...platform.env, ...settableClock })
      const ask = (name: string, args: object) =>
        rpc(program.url, 'tools/call', { name, arguments: args })
      const call = { type: 'phone', from_number: '+12025550110', to_number: '+12025550138' }
      const placed = await ask('place_call', { ...call, agent_id: platform.agent.id })
      platform.hide(true)
      program.process.kill('SIGUSR2')
      const call_id = String((placed.result.structuredContent as { id: string }).id)
      setTimeout(() => {
        platform.end(call_id)
        platform.hide(false)
      }, 5000)
      const { result } = await ask('wait_for_call', { call_id })
      expect(result.structuredContent).toMatchObject({ ended: true })
    },
    40_000,
  )

  test('may fail temporarily', async () => {
    await using client = await connect('v2 2026-07-28', 'HTTP')
    platform.failNext(1)
    setTimeout(() => platform.end('shaky'), 300)
    expect(await client.value('wait_for_call', { call_id: 'shaky' })).toMatchObject({ ended: true })
  })

  const dial = (to_number: string) => ({
    type: 'phone',
    agent_id: platform.agent.id,
    from_number: '+12025550110',
    to_number,
    follow: true,
  })

  describe.concurrent.each(everyClient)('after a %s client over %s cancels', (kind, transport) => {
    // All clients share a key and use equal request ids, so cancelling must not mix them up.
    test('reading stops, and the call goes on', async ({ expect }) => {
      await using client = await connect(kind, transport)
      const at = everyClient.findIndex((one) => one[0] === kind && one[1] === transport)
      const [number, call_id] = [`+1202555${1000 + at}`, `waited-${at}`]
      const args = dial(number)
      const controller = new AbortController()
      const waits = Promise.allSettled([
        client.call('wait_for_call', { call_id }, controller),
        client.call('place_call', args, controller),
      ])
      const dialled = () => platform.dialled.filter(({ to_number }) => to_number === number)
      const placedId = () => String(dialled()[0]?.id)
      const reads = () => [call_id, placedId()].map(platform.reads)
      await expect.poll(() => Math.min(...reads()), { timeout: 15_000 }).toBeGreaterThan(0)
      controller.abort()
      const settled = (await waits).map(({ status }) => status)
      expect(settled).toEqual(['rejected', 'rejected'])
      // The poll may continue for one more interval: about a second, longer on a busy machine.
      const newReads = async () => {
        const before = reads()
        await pause(1600)
        return reads().map((count, nth) => count - Number(before[nth]))
      }
      await expect.poll(newReads).toEqual([0, 0])
      expect(dialled()).toHaveLength(1)
      // The call continues and is not placed again.
      const again = await client.call('place_call', { ...args, follow: false })
      expect(again.structuredContent).toMatchObject({ id: placedId(), repeated: true })
    })
  })
})

test('the last words in the state of a task are never cut inside a character', () => {
  const state = callTaskView.state({
    id: 'call-9',
    status: 'in_progress',
    answer_status: 'human',
    messages: [{ role: 'user', message: `x${'😀'.repeat(200)}` }],
  })
  expect(state).toMatch(/of user: "x(😀){59}…"$/)
})

describe('the turns of a long call', () => {
  const messages = Array.from({ length: 14 }, (_, at) => ({ role: 'user', message: `word ${at}` }))
  const turns = (status: string) =>
    waitedCallOutput({ id: 'call-9', status, answer_status: 'human', messages })

  test('are the latest ones while it goes on, and a note says how to get all', () => {
    const { structured, lines } = turns('in_progress')
    const text = lines.join('\n')
    expect(structured).toMatchObject({ transcript: { turns: 14, returned: 6, next_turn: null } })
    expect(lines[0]).toContain('get_call')
    expect(text).toContain('14 user: word 13')
    expect(text).not.toContain('8 user: word 7')
  })

  test('are all of them once it has ended', () => {
    const { structured, lines } = turns('completed')
    expect(structured).toMatchObject({ transcript: { turns: 14, returned: 14 } })
    expect(structured).toMatchObject({ ended: true })
    expect(lines[0]).not.toMatch(/get_call|wait_for_call/)
  })
})
