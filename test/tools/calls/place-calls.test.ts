import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { connectPerson, type Person, tokenOf, yes } from '../../harness/answering-client.ts'
import { startCallListPlatform } from '../../harness/call-list-platform.ts'
import { type Answer, errorOf } from '../../harness/client.ts'
import { clientMeta } from '../../harness/mcp-request.ts'
import { quietly, scratchFolder, startProgram } from '../../harness/program.ts'
import { startRunningCallsPlatform } from '../../harness/running-calls-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

const from_number = '+12025550110'
const listOf = (...calls: (string | object)[]) => ({
  agent_id: seedIds.supportAgent,
  from_number,
  calls: calls.map((call) => (typeof call === 'string' ? { to_number: call } : call)),
})
const numbers = (count: number) => Array.from({ length: count }, (_, at) => `+12025550${130 + at}`)

const connect = (env: Record<string, string> = {}, answer?: Answer) =>
  connectPerson('v2 2026-07-28', {
    env: { VOICE_AGENT_CONFIRM: answer ? 'auto' : 'never', ...env },
    ...(answer && { answer }),
  })

interface Item {
  outcome: string
  to_number: string
  call_id?: string
  external_id?: string
  problem?: string
  problem_of?: number
}
const items = (value: Record<string, unknown>) => value.calls as Item[]
const counted = (outcomes: readonly string[]) =>
  Object.fromEntries(
    [...new Set(outcomes)].map((one) => [one, outcomes.filter((other) => other === one).length]),
  )
const total = async ({ value }: Person) =>
  (await value('list_calls', { created_after: new Date(Date.now() - 60_000).toISOString() })).total

describe('a list of calls', () => {
  test('is placed one by one, each checked against the dial policy, and reported in order', async () => {
    await using client = await connect({ VOICE_AGENT_DIAL_POLICY: '{"deny_countries":["DE"]}' })
    const list = listOf(
      '+12025550100',
      { to_number: '+12025550101', external_id: 'mine' },
      '+493012345678',
      '+12025550107',
      '+12025550100',
      { to_number: '+12025550100', test_variables: { name: 'Erika' } },
    )
    const result = await client.call('place_calls', list)
    expect(await client.flaws('place_calls', result)).toBeUndefined()
    const { structuredContent: value = {} } = result
    const summary = { placed: 3, repeated: 1, not_allowed: 1, failed: 1 }
    expect(value.summary).toEqual(summary)
    const [head] = result.content[0]?.text.split('\n') ?? []
    for (const [name, count] of Object.entries({ ...summary, calls: 6 }))
      expect(head).toContain(`${count} ${name}`)
    const [first, second, denied, refused, same, other] = items(value)
    expect(first).toMatchObject({ to_number: '+12025550100', outcome: 'placed' })
    expect(second).toMatchObject({ outcome: 'placed', external_id: 'mine' })
    expect(denied).toMatchObject({
      outcome: 'not_allowed',
      problem: expect.stringMatching(/deny_countries.*VOICE_AGENT_DIAL_POLICY/),
    })
    expect(refused).toMatchObject({
      outcome: 'failed',
      problem: expect.stringContaining('+12025550107'),
    })
    expect(same).toMatchObject({ outcome: 'repeated', call_id: first?.call_id })
    expect(other?.outcome).toBe('placed')
    expect(other?.call_id).not.toBe(first?.call_id)
    expect(await total(client)).toBe(3)
  })

  test('that is repeated is not dialled again, whatever the policy says by then', async () => {
    await using client = await connect({ VOICE_AGENT_DIAL_POLICY: '{"max_per_hour":2}' })
    const list = listOf(...numbers(4))
    const first = await client.value('place_calls', list)
    expect(first.summary).toEqual({ placed: 2, not_allowed: 2 })
    expect(items(first)[2]?.problem).toMatch(/max_per_hour/)
    const again = await client.value('place_calls', list)
    expect(again.summary).toEqual({ repeated: 2, not_allowed: 2 })
    expect(items(again).map(({ call_id }) => call_id)).toEqual(
      items(first).map(({ call_id }) => call_id),
    )
    expect(await total(client)).toBe(2)
  })

  test.each(['30', '17.0005', '0.001'])(
    'is placed whole where what became of a call is asked for %s s',
    async (seconds) => {
      await using platform = await startRunningCallsPlatform({ answerMs: 20 })
      await using client = await connect({
        ...platform.env,
        VOICE_AGENT_CALL_FIND_OUT: seconds,
        VOICE_AGENT_DIAL_POLICY: '{"max_at_once":6}',
      })
      const list = { ...listOf(...numbers(6)), agent_id: platform.agent.id }
      expect((await client.value('place_calls', list)).summary).toEqual({ placed: 6 })
      expect(platform.dialled).toHaveLength(6)
    },
    60_000,
  )

  test('from a number that cannot dial out has the fixes with the problem, once', async () => {
    await using client = await connect()
    const list = { ...listOf('+12025550100', '+12025550101'), from_number: '+12025550112' }
    const { calls } = await client.value('place_calls', list)
    expect(calls).toEqual([
      expect.objectContaining({
        outcome: 'failed',
        problem: expect.stringMatching(/update_phone_number.*Main line.*update_sip_trunk/),
      }),
      { to_number: '+12025550101', outcome: 'failed', problem_of: 1 },
    ])
    expect(JSON.stringify(calls)).not.toContain('account_id')
  })

  test('reports each problem once, with its numbers', async () => {
    await using client = await connect({
      VOICE_AGENT_DIAL_POLICY: '{"deny_countries":["DE","FR"]}',
    })
    const list = listOf(
      '+493012345678',
      '+12025550130',
      '+33142685300',
      '+493012345679',
      '+493012345670',
    )
    const result = await client.call('place_calls', list)
    expect(await client.flaws('place_calls', result)).toBeUndefined()
    const [first, placed, french, ...others] = items(result.structuredContent ?? {})
    expect(first?.problem).toMatch(/deny_countries.*\+493012345678.*Germany/)
    expect(placed).not.toHaveProperty('problem_of')
    expect(french?.problem).toMatch(/deny_countries.*\+33142685300.*France/)
    expect(others).toEqual([
      { to_number: '+493012345679', outcome: 'not_allowed', problem_of: 1 },
      { to_number: '+493012345670', outcome: 'not_allowed', problem_of: 1 },
    ])
    const lines = (result.content[0]?.text ?? '').split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[1]).toMatch(
      /^not_allowed: \+493012345678, \+493012345679, \+493012345670: .*Germany/,
    )
    // The number is only in the list of numbers: the problem is shared by all three.
    expect(lines[1]?.split('+493012345678')).toHaveLength(2)
    expect(lines[2]).toMatch(/^placed: \+12025550130 \(call_id [\w-]+\)$/)
    expect(lines[3]).toMatch(/^not_allowed: \+33142685300: .*\+33142685300 .*France/)
  })

  test.each([
    ['a minute', { max_per_minute: 2 }, expect.any(Number)],
    ['at once', { max_at_once: 2 }, null],
  ])('says how to continue if no more calls are allowed %s', async (_, policy, retryAfter) => {
    await using platform = await startRunningCallsPlatform()
    const VOICE_AGENT_DIAL_POLICY = JSON.stringify(policy)
    await using client = await connect({ ...platform.env, VOICE_AGENT_DIAL_POLICY })
    const list = { ...listOf(...numbers(4)), agent_id: platform.agent.id }
    const withoutTime = (text = '') => text.replace(/\d+ s\b/, 'N s')
    const placed = await client.value('place_calls', list)
    expect(placed.summary).toEqual({ placed: 2, not_allowed: 2 })
    const again = await client.value('place_calls', list)
    expect(again.summary).toEqual({ repeated: 2, not_allowed: 2 })
    const [problem, same] = [placed, again].map((one) => withoutTime(items(one)[2]?.problem))
    expect(same).toBe(problem)
    const { agent_id } = list
    const one = { type: 'phone', agent_id, from_number, to_number: '+12025550139' }
    const refusal = errorOf(await client.call('place_call', one))
    expect(refusal).toMatchObject({ kind: 'not_allowed', retryable: true, retryAfter })
    expect({ inList: problem, alone: withoutTime(refusal.next) }).toMatchSnapshot()
  })

  test('is the same list for `me` and for the id of the own account', async () => {
    await using client = await connect()
    const { id: account_id } = await client.value('get_current_account')
    const first = await client.value('place_calls', listOf(...numbers(1)))
    const again = await client.value('place_calls', { ...listOf(...numbers(1)), account_id })
    expect(again.summary).toEqual({ repeated: 1 })
    const [call] = items(first)
    const args = { agent_id: seedIds.supportAgent, from_number, type: 'phone', account_id }
    const alone = await client.value('place_call', { ...args, to_number: numbers(1)[0] })
    expect(alone).toMatchObject({ repeated: true, id: call?.call_id })
    expect(await total(client)).toBe(1)
  })

  test('that was placed before is reported without asking the platform or the person', async () => {
    await using platform = await startRunningCallsPlatform()
    await using person = await connect(platform.env, yes)
    const list = { ...listOf('+12025550130', '+12025550131'), agent_id: platform.agent.id }
    await person.value('place_calls', list)
    platform.seen.length = 0
    expect(await person.value('place_calls', list)).toMatchObject({ summary: { repeated: 2 } })
    expect(platform.seen).toEqual([])
    expect(person.asked).toHaveLength(1)
  })

  test('is paced, and reports progress, never right before the result', async () => {
    await using platform = await startRunningCallsPlatform()
    await using client = await connect(platform.env)
    const progress: { message: string; at: number }[] = []
    await client.call(
      'place_calls',
      { ...listOf(...numbers(4)), agent_id: platform.agent.id },
      { onProgress: (message) => void progress.push({ message, at: Date.now() }) },
    )
    expect(progress.map(({ message }) => message.match(/\d+/g))).toEqual([
      ['1', '1', '4'],
      ['2', '2', '4'],
      ['3', '3', '4'],
    ])
    const times = platform.dialled.map(({ at }) => Number(at))
    // The last progress message comes before the last call is placed.
    expect(progress.at(-1)?.at).toBeLessThan(Number(times.at(-1)))
    const gaps = times.slice(1).map((at, before) => at - Number(times[before]))
    expect(Math.min(...gaps)).toBeGreaterThan(250)
  })

  describe('with invalid arguments', () => {
    let client: Person
    beforeAll(async () => {
      client = await connect()
    })
    afterAll(() => client[Symbol.asyncDispose]())

    test.each([
      ['no call at all', listOf(), 'calls'],
      ['more than a hundred', listOf(...numbers(101)), 'calls'],
      ['an invalid number', listOf('+12025550130', '030 123'), 'calls.1.to_number'],
      [
        'the same external_id twice',
        listOf(
          { to_number: '+12025550130', external_id: 'a' },
          { to_number: '+12025550131', external_id: 'a' },
        ),
        'calls.1.external_id',
      ],
      ['no caller number', { ...listOf('+12025550130'), from_number: undefined }, 'from_number'],
      ['an unknown agent', { ...listOf('+12025550130'), agent_id: 'nobody' }, 'agent_id'],
    ])('with %s dials nobody', async (_, list, argument) => {
      const before = await total(client)
      const result = await client.call('place_calls', list)
      expect(result.isError).toBe(true)
      expect(result.content[0]?.text).toContain(argument)
      expect(await total(client)).toBe(before)
    })

    test('with the external_id of another call skips that entry', async () => {
      const [first] = items(
        await client.value('place_calls', listOf({ to_number: '+12025550130', external_id: 'a' })),
      )
      const list = listOf({ to_number: '+12025550131', external_id: 'a' }, '+12025550132')
      const value = await client.value('place_calls', list)
      expect(items(value).map(({ outcome }) => outcome)).toEqual(['failed', 'placed'])
      expect(items(value)[0]?.problem).toContain(`external_id`)
      expect(items(value)[0]?.problem).toContain(String(first?.call_id))
    })
  })
})

describe('a person', () => {
  test('is asked once for the whole list, with the facts that matter', async () => {
    await using person = await connect(
      { VOICE_AGENT_DIAL_POLICY: '{"deny_countries":["DE"]}' },
      yes,
    )
    const list = listOf('+12025550130', '+12025550130', '+493012345678', '+12025550131')
    await person.value('place_calls', list)
    expect(person.asked).toHaveLength(1)
    expect(person.asked[0]).toMatchSnapshot()
  })

  test('sees every number of a long list', async () => {
    await using person = await connect({}, { action: 'decline' })
    const list = numbers(60)
    await person.call('place_calls', listOf(...list))
    for (const number of list) expect(person.asked[0]).toContain(number)
    expect(person.asked[0]).toMatch(/^To \(51 on\): \+12025550180, /m)
  })

  test('who declines prevents all calls', async () => {
    await using person = await connect({}, { action: 'decline' })
    expect(await person.value('place_calls', listOf('+12025550130'))).toMatchObject({
      confirmation: { state: 'declined' },
    })
    expect(await total(person)).toBe(0)
  })

  test('is not asked if no call is allowed', async () => {
    await using person = await connect({ VOICE_AGENT_DIAL_POLICY: '{"max_total":0}' }, yes)
    const value = await person.value('place_calls', listOf('+12025550130'))
    expect(value.summary).toEqual({ not_allowed: 1 })
    expect(person.asked).toEqual([])
  })

  test('behind a client that cannot ask gets a preview, and the token is for that list', async () => {
    await using client = await connect({ VOICE_AGENT_CONFIRM: 'auto' })
    const list = listOf('+12025550130')
    const confirm_token = tokenOf(await client.call('place_calls', list))
    const longer = listOf('+12025550130', '+12025550131')
    expect(await client.value('place_calls', { ...longer, confirm_token })).toMatchObject({
      confirmation: { state: 'needed' },
    })
    expect(await client.value('place_calls', { ...list, confirm_token })).toMatchObject({
      summary: { placed: 1 },
    })
  })
})

describe('a list that is given again much later', () => {
  const minute = 60_000
  const day = 24 * 60 * minute
  /** Makes all journal entries older by `ms`. */
  const age = (stateDir: string, ms: number) => {
    using db = new DatabaseSync(join(stateDir, 'calls.db'))
    db.prepare('UPDATE calls SET since = since - ?, uptime = uptime - ?').run(ms, ms)
  }
  const both = ['+12025550130', '+12025550131'] as const

  test.each([
    ['a quarter of an hour', 15 * minute],
    ['a long weekend', 4 * day],
  ])('continues where it stopped, even after %s', async (_, ms) => {
    await using platform = await startRunningCallsPlatform()
    using state = scratchFolder()
    await using client = await connect({ ...platform.env, VOICE_AGENT_STATE_DIR: state.path })
    const listed = (...numbers: string[]) => ({
      ...listOf(...numbers),
      agent_id: platform.agent.id,
    })
    await client.value('place_calls', listed(...both))
    age(state.path, ms)
    const again = await client.call('place_calls', listed(...both, '+12025550132'))
    expect(again.structuredContent?.summary).toEqual({ repeated: 2, placed: 1 })
    expect(again.content[0]?.text).toContain('external_id')
    expect(platform.dialled).toHaveLength(3)
    // By then, place_call with equal arguments places a new call, unlike a list.
    const { agent_id } = listed()
    const one = { type: 'phone', agent_id, from_number, to_number: both[0] }
    expect(await client.value('place_call', one)).toMatchObject({ repeated: false })
  })

  test('does not dial placed calls again if one of the list was not placed', async () => {
    await using platform = await startRunningCallsPlatform()
    using state = scratchFolder()
    await using client = await connect({ ...platform.env, VOICE_AGENT_STATE_DIR: state.path })
    const list = { ...listOf(both[0]), agent_id: platform.agent.id }
    await client.value('place_calls', list)
    age(state.path, day)
    platform.refuseNext(1)
    const { agent_id } = list
    const one = { type: 'phone', agent_id, from_number, to_number: both[0] }
    expect((await client.call('place_call', one)).isError).toBe(true)
    expect(await client.value('place_calls', list)).toMatchObject({ summary: { repeated: 1 } })
  })

  test('is confirmed again if more calls would be dialled than the person agreed to', async () => {
    await using platform = await startRunningCallsPlatform()
    using state = scratchFolder()
    const env = { ...platform.env, VOICE_AGENT_STATE_DIR: state.path }
    await using client = await connect({ ...env, VOICE_AGENT_CONFIRM: 'auto' })
    const listed = (...numbers: string[]) => ({
      ...listOf(...numbers),
      agent_id: platform.agent.id,
    })
    const first = tokenOf(await client.call('place_calls', listed(...both)))
    await client.value('place_calls', { ...listed(...both), confirm_token: first })
    const longer = listed(...both, '+12025550132')
    const preview = await client.call('place_calls', longer)
    expect(preview.structuredContent).toMatchObject({
      confirmation: { facts: { 'Placed before': expect.stringMatching(/^2 /) } },
    })
    age(state.path, 10 * day)
    const confirm_token = tokenOf(preview)
    const { confirmation } = await client.value('place_calls', { ...longer, confirm_token })
    expect(confirmation).toMatchObject({ state: 'needed', question: expect.stringContaining('3') })
    expect(confirmation).not.toHaveProperty('facts.Placed before')
    expect(platform.dialled).toHaveLength(2)
  })
})

describe('a list that is cancelled', () => {
  test('stops, later continues there, and asks only for the rest', async () => {
    await using person = await connect({}, yes)
    const list = listOf(...numbers(6))
    const controller = new AbortController()
    const cancelled = expect(person.call('place_calls', list, controller)).rejects.toThrow()
    await expect
      .poll(() => total(person), { interval: 20, timeout: 10_000 })
      .toBeGreaterThanOrEqual(2)
    controller.abort()
    await cancelled
    // The call that was being sent is still placed.
    const pause = () => new Promise((resolve) => setTimeout(resolve, 500))
    await pause()
    const dialled = Number(await total(person))
    expect(dialled).toBeLessThan(6)
    await pause()
    expect(await total(person)).toBe(dialled)
    const value = await person.value('place_calls', list)
    expect(value.summary).toEqual({ placed: 6 - dialled, repeated: dialled })
    expect(items(value).map(({ outcome }) => outcome)).toEqual([
      ...Array(dialled).fill('repeated'),
      ...Array(6 - dialled).fill('placed'),
    ])
    expect(person.asked[1]).toContain(`Place ${6 - dialled} call`)
    expect(person.asked[1]).toContain(`\nPlaced before: ${dialled} `)
    expect(await total(person)).toBe(6)
  })

  test('while a call is being sent reports that call too', async () => {
    await using platform = await startRunningCallsPlatform({ answerMs: 500 })
    await using client = await connect(platform.env)
    const list = { ...listOf(...numbers(3)), agent_id: platform.agent.id }
    const cancelled = new AbortController()
    const waiting = client.call('place_calls', list, { signal: cancelled.signal })
    const rejected = expect(waiting).rejects.toThrow()
    await expect.poll(() => platform.dialled.length, { interval: 20 }).toBe(2)
    cancelled.abort()
    await rejected
    const { summary } = await client.value('place_calls', list)
    expect(summary).toEqual({ repeated: 2, placed: 1 })
    expect(platform.dialled.map(({ to_number }) => to_number)).toEqual(numbers(3))
  })

  test.each([
    ['between calls', 0],
    ['while a call is on its way', 300],
  ])('because its client ended, %s, reports who was called', async (_, answerMs) => {
    await using platform = await startRunningCallsPlatform({ answerMs })
    await using program = startProgram([], { ...quietly, ...platform.env })
    const params = {
      _meta: clientMeta({}),
      name: 'place_calls',
      arguments: { ...listOf(...numbers(9)), agent_id: platform.agent.id },
    }
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    program.process.stdin?.write(`${JSON.stringify(request)}\n`)
    await expect.poll(() => platform.dialled.length, { interval: 20, timeout: 15_000 }).toBe(2)
    program.process.stdin?.end()
    expect(await program.exited).toBe(0)
    const count = platform.dialled.length
    expect(count).toBeLessThan(9)
    const { result } = z
      .object({ result: z.looseObject({ structuredContent: z.looseObject({}) }) })
      .parse(JSON.parse(program.stdout()))
    const calls = items(result.structuredContent)
    const outcomes = calls.map(({ outcome }) => outcome)
    // The reply to the call that was being sent may come too late to be reported.
    expect(outcomes.slice(0, count - 1)).toEqual(Array(count - 1).fill('placed'))
    expect(outcomes[count - 1]).toMatch(/^(placed|unknown)$/)
    expect(outcomes.slice(count)).toEqual(Array(9 - count).fill('not_dialled'))
    expect(calls.map(({ to_number }) => to_number)).toEqual(numbers(9))
    expect(platform.dialled.map(({ to_number }) => to_number)).toEqual(numbers(9).slice(0, count))
    expect(result.structuredContent.summary).toEqual(counted(outcomes))
  })
})

describe('a call of the list that an earlier request may have sent', () => {
  const [fresh = '', open = ''] = numbers(2)

  /** Locks the state, or ends the client, while the call before the open one is placed. */
  async function afterOpen(whilePlacing: 'locked' | 'ended') {
    await using platform = await startCallListPlatform({ show: () => ({ external_id: null }) })
    using folder = scratchFolder()
    const env = {
      ...platform.env,
      ...{ VOICE_AGENT_STATE_DIR: folder.path, VOICE_AGENT_CONFIRM: 'never' },
      ...{ VOICE_AGENT_CALL_FIND_OUT: '1', VOICE_AGENT_CALL_SETTLE: '60' },
    }
    const args = (...calls: string[]) => ({ ...listOf(...calls), agent_id: platform.agent.id })
    {
      await using client = await connect(env)
      const first = items(await client.value('place_calls', args(open)))
      expect(first).toMatchObject([{ outcome: 'unknown' }])
    }
    platform.loseAnswers(0)
    await using program = startProgram([], { ...quietly, ...env })
    using db = new DatabaseSync(join(folder.path, 'calls.db'))
    const list = platform.behaviour
    platform.behave((request, response, before) => {
      if (request.method !== 'POST') return list(request, response, before)
      if (whilePlacing === 'locked') db.exec('BEGIN IMMEDIATE')
      else program.process.stdin?.end()
      setTimeout(() => list(request, response, before), 300)
    })
    const params = { _meta: clientMeta({}), name: 'place_calls', arguments: args(fresh, open) }
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    program.process.stdin?.write(`${JSON.stringify(request)}\n`)
    await expect.poll(() => program.stdout(), { timeout: 30_000 }).toContain('\n')
    const { result } = z
      .object({ result: z.looseObject({ structuredContent: z.looseObject({}) }) })
      .parse(JSON.parse(program.stdout()))
    const sent = platform.seen.filter(({ method }) => method === 'POST').length
    return { calls: items(result.structuredContent), sent }
  }

  test.each(['locked', 'ended'] as const)(
    'is unknown where its turn does not come: %s',
    async (whilePlacing) => {
      const { calls, sent } = await afterOpen(whilePlacing)
      expect(calls[1]).toMatchObject({ to_number: open, outcome: 'unknown' })
      expect(calls[1]?.problem).toEqual(expect.any(String))
      expect(calls[1]?.problem).not.toContain('..')
      expect(sent).toBe(2)
    },
    60_000,
  )
})
