import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { sealingKeysFrom } from '../../src/state/sealing.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'
import { StateError } from '../../src/state/state-access.ts'
import { dialogText } from '../../src/text/dialog-text.ts'
import { type Agreement, createConfirmations, NotConfirmed } from '../../src/tool/confirmation.ts'
import { createUsedTokens, type UsedTokens } from '../../src/tool/single-use-tokens.ts'
import { connectPerson, type Person, tokenOf, yes } from '../harness/answering-client.ts'
import type { Answer, ToolResult } from '../harness/client.ts'
import { type FakePlatform, json, startFakePlatform } from '../harness/fake-platform.ts'
import { type Program, startHttpProgram } from '../harness/program.ts'
import { rpc } from '../harness/rpc.ts'
import { seedIds } from '../harness/sandbox.ts'

const from_number = '+12025550110'
let placed = 0
/** Arguments of a call that no other test places. */
const newCall = () => ({
  type: 'phone',
  agent_id: seedIds.supportAgent,
  from_number,
  to_number: '+12025550101',
  external_id: `call-${placed++}`,
})

/** Creates a trunk to delete. */
const newTrunk = async ({ value }: Person) => {
  const { id } = await value('create_sip_trunk', { name: `Trunk ${placed++}` })
  return { sip_trunk_id: String(id) }
}

let http: Program & { url: string }
beforeAll(async () => {
  http = await startHttpProgram({ VOICE_AGENT_CONFIRM: 'auto', VOICE_AGENT_SANDBOX_SPEED: '50' })
})
afterAll(() => http[Symbol.asyncDispose]())

const over = { stdio: () => ({}), HTTP: () => ({ url: http.url }) }

const dialled = async ({ value }: Person, { external_id }: { external_id: string }) =>
  (await value('list_calls', { external_id })).total

describe.each([
  ['v2 2026-07-28', 'stdio'],
  ['v2 2026-07-28', 'HTTP'],
  ['v2 2025', 'stdio'],
  ['v1', 'stdio'],
] as const)('a person behind a %s client over %s', (kind, transport) => {
  let person: Person
  beforeAll(async () => {
    person = await connectPerson(kind, { ...over[transport](), answer: yes })
  })
  afterAll(() => person[Symbol.asyncDispose]())
  beforeEach(() => {
    person.asked.length = 0
  })

  test('is asked once, with the facts that matter, and is obeyed', async () => {
    person.answers(yes)
    const call = newCall()
    const result = await person.call('place_call', call)
    expect(result.structuredContent).toMatchObject({ id: expect.any(String), repeated: false })
    expect(person.asked).toHaveLength(1)
    const question = person.asked[0]?.replace(call.external_id, 'call-0')
    await expect(question).toMatchFileSnapshot('snapshots/question-place-call.txt')
    expect(await dialled(person, call)).toBe(1)
  })

  test('may decline: nothing is dialled, and the result says so', async () => {
    person.answers({ action: 'decline' })
    const call = newCall()
    const result = await person.call('place_call', call)
    expect(result.isError).toBeFalsy()
    expect(result.content[0]?.text).toContain(call.to_number)
    expect(result.structuredContent).toMatchObject({ confirmation: { state: 'declined' } })
    expect(await person.flaws('place_call', result)).toBeUndefined()
    expect(person.asked).toHaveLength(1)
    expect(await dialled(person, call)).toBe(0)
  })

  test('may close the question: nothing is dialled, and it is not reported as a refusal', async () => {
    person.answers({ action: 'cancel' })
    const call = newCall()
    const result = await person.call('place_call', call)
    expect(result.content[0]?.text).toContain(call.to_number)
    expect(result.structuredContent).toMatchObject({ confirmation: { state: 'dismissed' } })
    expect(await person.flaws('place_call', result)).toBeUndefined()
    expect(await dialled(person, call)).toBe(0)
  })

  test.each<[string, Answer]>([
    ['without a form', { action: 'accept' }],
    ['an empty form', { action: 'accept', content: {} }],
    ['without the tick', { action: 'accept', content: { confirm: false } }],
    ['in a word', { action: 'accept', content: { confirm: 'true' } }],
  ])('who accepts %s has not said yes: nothing is decided or dialled', async (_, answer) => {
    person.answers(answer)
    const call = newCall()
    const result = await person.call('place_call', call)
    // Clients that validate the form themselves fail instead of sending such an answer.
    if (result.isError) expect(result.content[0]?.text).toMatch(/Elicitation/i)
    else {
      expect(result.content[0]?.text).toContain(call.to_number)
      expect(result.structuredContent).toMatchObject({ confirmation: { state: 'dismissed' } })
      expect(await person.flaws('place_call', result)).toBeUndefined()
    }
    expect(person.asked).toHaveLength(1)
    expect(await dialled(person, call)).toBe(0)
  })

  test('sees the overrides of the agent for this call', async () => {
    person.answers({ action: 'decline' })
    const overrides = { initial_message: { message: 'Tell me your PIN' } }
    await person.call('place_call', { ...newCall(), overrides })
    const line = 'overrides.initial_message.message: "Tell me your PIN"'
    expect(person.asked[0]?.split('\n')).toContain(line)
  })

  test('is asked even if the assistant invents a token', async () => {
    person.answers({ action: 'decline' })
    const call = newCall()
    const result = await person.call('place_call', { ...call, confirm_token: 'made up' })
    expect(result.structuredContent).toMatchObject({ confirmation: { state: 'declined' } })
    expect(tokenOf(result)).toBeUndefined()
    expect(person.asked).toHaveLength(1)
    expect(await dialled(person, call)).toBe(0)
  })

  test('who answers a cancelled request causes no call', async () => {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    person.answers(promise)
    const call = newCall()
    const controller = new AbortController()
    const cancelled = expect(person.call('place_call', call, controller)).rejects.toThrow()
    await expect.poll(() => person.asked.length).toBe(1)
    controller.abort()
    resolve(yes)
    await cancelled
    await new Promise((done) => setTimeout(done, 100))
    expect(await dialled(person, call)).toBe(0)
  })

  test('sees a name as a name, whatever it says', async () => {
    person.answers({ action: 'decline' })
    const name = `Nice ${placed++}\nTo: +10000000000\u202e`
    const agent = await person.value('create_agent', { name, ...(await agentParts(person)) })
    await person.call('place_call', { ...newCall(), agent_id: agent.id })
    const lines = person.asked[0]?.split('\n') ?? []
    expect(lines.filter((line) => line.includes('+10000000000'))).toEqual([
      expect.stringContaining('Nice'),
    ])
    expect(person.asked[0]).not.toContain('\u202e')
  })

  test('is asked before an agent is archived', async () => {
    person.answers({ action: 'decline' })
    const agent_id = seedIds.supportAgent
    expect(await person.value('archive_agent', { agent_id })).toMatchObject({
      confirmation: { state: 'declined' },
    })
    expect(await person.value('get_agent', { agent_id })).toMatchObject({ is_archived: false })
  })
})

describe.each([
  ['v2 2026-07-28', 'stdio', undefined],
  ['v2 2026-07-28', 'HTTP', undefined],
  ['v2 2025', 'stdio', undefined],
  // Over stateless HTTP of the 2025 revisions, elicitation is impossible even if the client
  // declares it.
  ['v2 2025', 'HTTP', yes],
  ['v1', 'HTTP', yes],
] as const)('a %s client over %s that cannot ask', (kind, transport, answer) => {
  test('gets a preview with a token, and places the call with it', async () => {
    await using client = await connectPerson(kind, {
      ...over[transport](),
      ...(answer && { answer }),
    })
    const call = newCall()
    const preview = await client.call('place_call', call)
    expect(preview.isError).toBeFalsy()
    expect(preview.structuredContent).toMatchObject({
      confirmation: {
        state: 'needed',
        facts: {
          To: call.to_number,
          From: `${from_number} ("Main line")`,
        },
      },
    })
    expect(await client.flaws('place_call', preview)).toBeUndefined()
    expect(await dialled(client, call)).toBe(0)
    const confirm_token = tokenOf(preview)
    expect(await client.value('place_call', { ...call, confirm_token })).toMatchObject({
      repeated: false,
    })
    expect(client.asked).toEqual([])
    expect(await dialled(client, call)).toBe(1)
  })
})

describe('a token', () => {
  let client: Person
  let other: Person
  beforeAll(async () => {
    const connect = (key: string) =>
      connectPerson('v2 2026-07-28', { url: http.url, headers: { 'X-API-Key': key } })
    client = await connect('sandbox-key')
    other = await connect('sandbox-subaccount-key')
  })
  afterAll(async () => {
    await client[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
  })
  /** Checks that an invalid token leads to a new preview, whose text gives the reason. */
  const isRefused = async (by: Person, name: string, args: object, token: unknown, why: RegExp) => {
    const refused = await by.call(name, { ...args, confirm_token: token })
    expect(refused.structuredContent).toMatchObject({ confirmation: { state: 'needed' } })
    expect(refused.content[0]?.text.split('Nothing was done', 1)[0]).toMatch(why)
  }

  test('works once', async () => {
    const trunk = await newTrunk(client)
    const confirm_token = tokenOf(await client.call('delete_sip_trunk', trunk))
    const [first, second] = await Promise.all([
      client.call('delete_sip_trunk', { ...trunk, confirm_token }),
      client.call('delete_sip_trunk', { ...trunk, confirm_token }),
    ])
    const done = [first, second].filter(({ structuredContent: data }) => data?.done === true)
    expect(done).toHaveLength(1)
  })

  test('that was used is reported as used, for other arguments too', async () => {
    const disable = { subaccount_id: seedIds.subaccount, is_active: false }
    const confirm_token = tokenOf(await client.call('update_subaccount', disable))
    await client.value('update_subaccount', { ...disable, confirm_token })
    await client.value('update_subaccount', { ...disable, is_active: true })
    await isRefused(client, 'update_subaccount', disable, confirm_token, /was used/)
    await isRefused(client, 'place_call', newCall(), confirm_token, /was used/)
  })

  test.each([
    ['to_number', '+12025550102'],
    ['external_id', 'another'],
    ['follow', true],
    ['overrides', { name: 'Other' }],
  ])('is valid only for the same %s', async (argument, other) => {
    const call = newCall()
    const confirm_token = tokenOf(await client.call('place_call', call))
    const changed = { ...call, [argument]: other }
    await isRefused(client, 'place_call', changed, confirm_token, /changed/)
    expect(await dialled(client, changed)).toBe(0)
  })

  test('is valid for the same arguments in another order', async () => {
    const call = { ...newCall(), test_variables: { a: { x: 1, y: 2 }, b: 3 } }
    const confirm_token = tokenOf(await client.call('place_call', call))
    const reordered = { confirm_token, ...call, test_variables: { b: 3, a: { y: 2, x: 1 } } }
    expect(await client.value('place_call', reordered)).toMatchObject({ repeated: false })
  })

  test('is valid only for its tool', async () => {
    const { agent_id, to_number } = newCall()
    const list = { agent_id, from_number, calls: [{ to_number }] }
    const confirm_token = tokenOf(await client.call('place_call', newCall()))
    await isRefused(client, 'place_calls', list, confirm_token, /changed/)
  })

  test('is valid only for its API key', async () => {
    const agent = await client.value('create_agent', {
      name: 'Shared',
      ...(await agentParts(client)),
      account_id: seedIds.subaccount,
    })
    const web = { type: 'web', agent_id: agent.id, account_id: seedIds.subaccount }
    const confirm_token = tokenOf(await client.call('place_call', web))
    await isRefused(other, 'place_call', web, confirm_token, /changed/)
    const own = tokenOf(await other.call('place_call', web))
    expect(await other.value('place_call', { ...web, confirm_token: own })).toMatchObject({
      repeated: false,
    })
  })

  test('cannot be made up or altered', async () => {
    const call = newCall()
    const token = String(tokenOf(await client.call('place_call', call)))
    expect(token).toMatch(/^[\w-]{60}$/)
    const later = Buffer.from(token, 'base64url')
    later.writeUInt32BE(later.readUInt32BE() + 600)
    for (const confirm_token of ['', 'yes', token.slice(0, -1), later.toString('base64url')])
      await isRefused(client, 'place_call', call, confirm_token, /not a token/)
    expect(await dialled(client, call)).toBe(0)
  })
})

const agentParts = async ({ value }: Person) => {
  const { model, transcriber, voice } = await value('get_agent', { agent_id: seedIds.supportAgent })
  return { model, transcriber, voice }
}

describe('an answer of 2026-07-28', () => {
  const capabilities = { elicitation: { form: {} } }
  const call = (name: string, args: object, more: object = {}, options: object = {}) =>
    rpc(http.url, 'tools/call', { name, arguments: args, ...more }, { capabilities, ...options })
  const inputResponses = { confirm: yes }
  const isRefused = ({ error }: Awaited<ReturnType<typeof call>>) =>
    expect(error).toMatchObject({ code: -32602, data: { reason: 'invalid_request_state' } })

  test('to another call, of another tool or by another key is a protocol error', async () => {
    const args = newCall()
    const { requestState } = (await call('place_call', args)).result
    expect(requestState).toEqual(expect.any(String))
    const answer = { inputResponses, requestState }
    for (const [name, other, options] of [
      ['place_call', { ...args, to_number: '+12025550102' }, {}],
      ['place_call', { type: 'web', agent_id: args.agent_id, account_id: seedIds.subaccount }, {}],
      [
        'place_calls',
        { agent_id: args.agent_id, from_number, calls: [{ to_number: '+12025550102' }] },
        {},
      ],
      ['get_agent', { agent_id: args.agent_id }, {}],
      ['place_call', args, { key: 'sandbox-subaccount-key' }],
    ] as const)
      isRefused(await call(name, other, answer, options))
    expect((await call('place_call', args, answer)).result).toMatchObject({
      structuredContent: { repeated: false },
    })
  })

  test('is accepted once, and a protocol error afterwards', async () => {
    await using client = await connectPerson('v2 2026-07-28', { url: http.url, answer: yes })
    const trunk = await newTrunk(client)
    const { requestState } = (await call('delete_sip_trunk', trunk)).result
    const answer = { inputResponses, requestState }
    const answers = await Promise.all([1, 2].map(() => call('delete_sip_trunk', trunk, answer)))
    const done = answers.filter(({ result }) => 'structuredContent' in result && !result.isError)
    expect(done).toHaveLength(1)
    expect(answers.filter(({ error }) => error)).toHaveLength(1)
    isRefused(await call('delete_sip_trunk', trunk, answer))
  })

  test('that declines is accepted once, and never becomes a yes', async () => {
    const args = newCall()
    const { requestState } = (await call('place_call', args)).result
    const no = { inputResponses: { confirm: { action: 'decline' } }, requestState }
    expect((await call('place_call', args, no)).result).toMatchObject({
      structuredContent: { confirmation: { state: 'declined' } },
    })
    isRefused(await call('place_call', args, { inputResponses, requestState }))
  })

  test('without a question leads to a question', async () => {
    const { result } = await call('place_call', newCall(), { inputResponses })
    expect(result.inputRequests).toBeDefined()
  })

  test('that is missing leads to the same question again', async () => {
    const args = newCall()
    const { requestState } = (await call('place_call', args)).result
    const { result } = await call('place_call', args, { inputResponses: {}, requestState })
    expect(result.inputRequests).toBeDefined()
  })

  test('that was tampered with is a protocol error, whatever the tool', async () => {
    const args = newCall()
    const { requestState } = (await call('place_call', args)).result
    const states = [`${requestState}-TAMPERED`, '', 'v1.e30.AAAA']
    for (const tampered of states) {
      const answer = { inputResponses, requestState: tampered }
      isRefused(await call('place_call', args, answer))
      isRefused(await call('get_agent', { agent_id: args.agent_id }, answer))
    }
  })

  test('with the token of a preview is a protocol error', async () => {
    const args = newCall()
    const preview = await call('place_call', args, {}, { capabilities: {} })
    const { structuredContent } = preview.result as unknown as ToolResult
    const { confirm_token: requestState } = (
      structuredContent as { confirmation: { confirm_token: string } }
    ).confirmation
    isRefused(await call('place_call', args, { inputResponses, requestState }))
  })
})

describe('agreement', () => {
  const newState = (secret = randomUUID()) => ({
    usedTokens: createUsedTokens(createSqliteRecords(':memory:', '--state-dir')),
    sealingKeys: sealingKeysFrom(async () => [secret]),
  })
  interface How {
    readonly tool?: string
    readonly token?: string
    readonly canAsk?: boolean
    readonly responses?: Record<string, unknown>
    readonly state?: string
    readonly scope?: unknown
    /** Use of the agreement. */
    readonly afterwards?: (agreement: Agreement) => Promise<void>
  }
  /**
   * Asks for confirmation. Returns the result for the client; `undefined` if there is an agreement.
   */
  const ask = async (confirm: ReturnType<typeof createConfirmations>, how: How) => {
    const { tool = 'place_call', token, canAsk = false, state, responses } = how
    const earlier = {
      requestState: state === undefined ? undefined : await confirm.verifyRequestState(state),
      answers: responses,
    }
    const asksIn = canAsk ? ('form' as const) : undefined
    const request = { tool, bound: ['x'], keyHash: 'me', token, asksIn, earlier }
    try {
      const agreement = await (await confirm.of({ ...request, redact: String }))({
        kind: 'calls',
        question: dialogText`Call?`,
        facts: {},
        scope: how.scope,
      })
      await how.afterwards?.(agreement)
      return undefined
    } catch (error) {
      if (error instanceof NotConfirmed) return error.result as Record<string, unknown>
      throw error
    }
  }
  const textOf = (result: Record<string, unknown> | undefined) =>
    (result as ToolResult | undefined)?.content[0]?.text
  const invalidState = { code: -32602, data: { reason: 'invalid_request_state' } }
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => vi.useRealTimers())

  test('by token is valid for two minutes', async () => {
    const confirm = createConfirmations('auto', newState())
    const preview = async () => tokenOf((await ask(confirm, {})) as unknown as ToolResult) ?? ''
    const [early, late] = [await preview(), await preview()]
    vi.setSystemTime(Date.now() + 119_000)
    expect(await ask(confirm, { token: early })).toBeUndefined()
    vi.setSystemTime(Date.now() + 3000)
    expect(textOf(await ask(confirm, { token: late }))).toMatch(/has expired/)
    expect(textOf(await ask(confirm, { token: early }))).toMatch(/was used/)
  })

  test('by token is valid only for its tool, even with the same arguments', async () => {
    const confirm = createConfirmations('auto', newState())
    const token = tokenOf((await ask(confirm, {})) as never) ?? ''
    expect(textOf(await ask(confirm, { token, tool: 'place_calls' }))).toMatch(/changed/)
    expect(await ask(confirm, { token })).toBeUndefined()
  })

  test('by token ends when the effect of the arguments changes', async () => {
    const confirm = createConfirmations('auto', newState())
    const token = tokenOf((await ask(confirm, { scope: ['+12025550110'] })) as never) ?? ''
    expect(textOf(await ask(confirm, { token, scope: ['+12025550111'] }))).toMatch(/changed/)
    expect(await ask(confirm, { token, scope: ['+12025550110'] })).toBeUndefined()
  })

  test('of a person ends when the effect of the arguments changes: they are asked again', async () => {
    const confirm = createConfirmations('auto', newState())
    const person = { canAsk: true, responses: { confirm: yes } }
    const state = String((await ask(confirm, { canAsk: true, scope: 1 }))?.requestState)
    expect(await ask(confirm, { ...person, state, scope: 2 })).toHaveProperty('inputRequests')
    expect(await ask(confirm, { ...person, state, scope: 1 })).toBeUndefined()
  })

  test('whose token cannot be given back stays used, without an error', async () => {
    const usedTokens: UsedTokens = {
      ...createUsedTokens(createSqliteRecords(':memory:', '--state-dir')),
      giveBack: async () => {
        throw new Error('unreachable')
      },
    }
    const confirm = createConfirmations('auto', { ...newState(), usedTokens })
    const token = tokenOf((await ask(confirm, {})) as unknown as ToolResult) ?? ''
    const giveBack = (agreement: Agreement) => agreement.giveBack()
    expect(await ask(confirm, { token, afterwards: giveBack })).toBeUndefined()
    expect(await ask(confirm, { token })).toBeDefined()
  })

  test('of a person is valid for eleven minutes, once', async () => {
    const confirm = createConfirmations('auto', newState())
    const asked = async () => String((await ask(confirm, { canAsk: true }))?.requestState)
    const [early, late] = [await asked(), await asked()]
    const answer = { canAsk: true, responses: { confirm: yes } }
    vi.setSystemTime(Date.now() + 600_000)
    expect(await ask(confirm, { ...answer, state: early })).toBeUndefined()
    await expect(ask(confirm, { ...answer, state: early })).rejects.toMatchObject(invalidState)
    vi.setSystemTime(Date.now() + 70_000)
    await expect(ask(confirm, { ...answer, state: late })).rejects.toThrow('expired')
  })

  test('of a person is invalid on a server with another secret', async () => {
    const state = String(
      (await ask(createConfirmations('auto', newState()), { canAsk: true }))?.requestState,
    )
    const answer = { canAsk: true, responses: { confirm: yes }, state }
    await expect(ask(createConfirmations('auto', newState()), answer)).rejects.toThrow()
  })

  test('is valid once, on every server with the secret, also while the secret is rotated', async () => {
    const usedTokens = createUsedTokens(createSqliteRecords(':memory:', '--state-dir'))
    const server = (...secrets: [string, ...string[]]) =>
      createConfirmations('auto', { usedTokens, sealingKeys: sealingKeysFrom(async () => secrets) })
    const [old, both, next] = [server('old'), server('new', 'old'), server('new')]
    const answer = { canAsk: true, responses: { confirm: yes } }
    const state = String((await ask(old, { canAsk: true }))?.requestState)
    expect(await ask(both, { ...answer, state })).toBeUndefined()
    await expect(ask(old, { ...answer, state })).rejects.toMatchObject(invalidState)
    const token = tokenOf((await ask(both, {})) as unknown as ToolResult) ?? ''
    expect(await ask(old, { token })).toBeDefined()
    expect(await ask(next, { token })).toBeUndefined()
    expect(await ask(both, { token })).toBeDefined()
  })

  test('is refused while the state store is unavailable', async () => {
    const fails = async () => {
      throw new StateError('The state cannot be reached.')
    }
    const state = newState()
    const broken = { ...state, usedTokens: { ...state.usedTokens, use: fails } }
    const confirm = createConfirmations('auto', broken)
    const token = tokenOf((await ask(confirm, {})) as unknown as ToolResult) ?? ''
    await expect(ask(confirm, { token })).rejects.toThrow(StateError)
  })

  test.each([
    [{ confirm: true }, true],
    [{ confirm: false }, false],
    [{ confirm: 'no' }, false],
    [{ confirm: 'true' }, false],
    [{ confirm: 1 }, false],
    [{}, false],
    [undefined, false],
  ])('with the content %j is agreement: %s', async (content, isAgreement) => {
    const confirm = createConfirmations('auto', newState())
    const state = String((await ask(confirm, { canAsk: true }))?.requestState)
    const responses = { confirm: { action: 'accept', content } }
    const result = await ask(confirm, { canAsk: true, responses, state })
    expect(result === undefined).toBe(isAgreement)
  })

  test('that is missing leads to a result that says what to do', async () => {
    const confirm = createConfirmations('auto', newState())
    const preview = (await ask(confirm, {})) as unknown as ToolResult
    const again = (await ask(confirm, { token: 'made up' })) as unknown as ToolResult
    const texts = [preview, again].map((result) =>
      result.content[0]?.text.replace(String(tokenOf(result)), 'TOKEN'),
    )
    for (const answer of [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept' }]) {
      const state = String((await ask(confirm, { canAsk: true }))?.requestState)
      const responses = { confirm: answer }
      const result = (await ask(confirm, { canAsk: true, responses, state })) as unknown
      texts.push((result as ToolResult).content[0]?.text)
    }
    expect(texts).toMatchSnapshot()
  })

  test('with an action other than accept or decline is no agreement', async () => {
    const confirm = createConfirmations('auto', newState())
    const state = String((await ask(confirm, { canAsk: true }))?.requestState)
    const responses = { confirm: { action: 'submit', content: { confirm: true } } }
    expect(await ask(confirm, { canAsk: true, responses, state })).toBeDefined()
  })
})

describe('before anybody has agreed', () => {
  const agent = { id: '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11', name: 'Wired' }
  const call = { type: 'phone', agent_id: agent.id, from_number, to_number: '+12025550100' }
  let platform: FakePlatform
  let client: Person
  beforeAll(async () => {
    platform = await startFakePlatform((_, res) =>
      json(res, 200, { ...agent, items: [], count: 0 }),
    )
    client = await connectPerson('v2 2026-07-28', {
      env: {
        VOICE_AGENT_CONFIRM: 'always',
        VOICE_AGENT_API_KEY: 'sk-0123456789',
        VOICE_AGENT_BASE_URL: platform.url,
      },
    })
  })
  afterAll(async () => {
    await client[Symbol.asyncDispose]()
    await platform[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    platform.seen.length = 0
  })
  const written = () => platform.seen.filter(({ method }) => method !== 'GET')

  test.each([
    ['place_call', call],
    ['place_calls', { agent_id: agent.id, from_number, calls: [{ to_number: '+12025550100' }] }],
    ['archive_agent', { agent_id: agent.id }],
    ['delete_phone_number', { phone_number_id: 'number' }],
    ['delete_sip_trunk', { sip_trunk_id: 'trunk' }],
    ['update_subaccount', { subaccount_id: 'account', is_active: false }],
  ])('%s only reads', async (name, args) => {
    expect(tokenOf(await client.call(name, args))).toBeDefined()
    expect(platform.seen.length).toBeGreaterThan(0)
    expect(written()).toEqual([])
  })

  test('a token for one account does nothing in another', async () => {
    const [ours, theirs] = ['ours', 'theirs'].map((account_id) => ({ ...call, account_id }))
    const preview = await client.call('place_call', ours)
    const factsOf = ({ structuredContent }: ToolResult) =>
      Object(structuredContent?.confirmation).facts
    expect(factsOf(preview)).toMatchObject({ Account: 'ours' })
    const refused = await client.call('place_call', { ...theirs, confirm_token: tokenOf(preview) })
    expect(factsOf(refused)).toMatchObject({ Account: 'theirs' })
    expect(tokenOf(refused)).not.toBe(tokenOf(preview))
    expect(written()).toEqual([])
  })
})

describe('what is confirmed', () => {
  const modeOf = (mode: string, answer?: Answer) =>
    connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_CONFIRM: mode },
      ...(answer && { answer }),
    })
  const archive = { agent_id: seedIds.supportAgent }
  const disable = { subaccount_id: seedIds.subaccount, is_active: false }

  /** True if the action needs confirmation. Declines elicitations, and confirms nothing. */
  const asks = async (client: Person, name: string, args: object) => {
    const before = client.asked.length
    const result = await client.call(name, args)
    expect(await client.flaws(name, result)).toBeUndefined()
    const wasAsked = client.asked.length > before
    if (wasAsked)
      expect(result.structuredContent).toMatchObject({ confirmation: { state: 'declined' } })
    return wasAsked || tokenOf(result) !== undefined
  }

  test.each([
    ['by clients that cannot ask', undefined],
    ['by those that can', { action: 'decline' }],
  ] as const)(
    'in mode auto, %s: calls, deletes and objects in use, and nothing else',
    async (_, answer) => {
      await using client = await modeOf('auto', answer)
      expect(await asks(client, 'place_call', newCall())).toBe(true)
      expect(await asks(client, 'delete_sip_trunk', await newTrunk(client))).toBe(true)
      const number = { phone_number_id: seedIds.mainNumber }
      expect(await asks(client, 'delete_phone_number', number)).toBe(true)
      expect(await asks(client, 'archive_agent', archive)).toBe(true)
      expect(await asks(client, 'update_subaccount', disable)).toBe(true)
      expect(await asks(client, 'update_subaccount', { ...disable, is_active: true })).toBe(false)
      const unused = await client.value('create_agent', {
        name: 'Unused',
        ...(await agentParts(client)),
      })
      // Needs no confirmation, so the invalid token is ignored.
      const archiveUnused = { agent_id: unused.id, confirm_token: 'x' }
      expect(await asks(client, 'archive_agent', archiveUnused)).toBe(false)
      expect(await client.value('get_agent', { agent_id: unused.id })).toMatchObject({
        is_archived: true,
      })
      expect(await client.value('get_agent', archive)).toMatchObject({ is_archived: false })
    },
  )

  test('in mode always: every irreversible action, by every way to confirm', async () => {
    await using client = await modeOf('always')
    for (const [name, args] of [
      ['archive_agent', archive],
      ['update_subaccount', disable],
    ] as const) {
      const preview = await client.call(name, args)
      expect(await client.flaws(name, preview)).toBeUndefined()
      const confirm_token = tokenOf(preview)
      expect(confirm_token).toBeDefined()
      const result = await client.call(name, { ...args, confirm_token })
      expect(result.structuredContent).not.toHaveProperty('confirmation')
    }
    await client.value('update_subaccount', { ...disable, is_active: true })
  })

  test('in mode never: nothing, even if a person could be asked', async () => {
    await using person = await modeOf('never', { action: 'decline' })
    expect(await person.value('place_call', newCall())).toMatchObject({ repeated: false })
    expect(await person.value('archive_agent', archive)).toMatchObject({ done: true })
    expect(person.asked).toEqual([])
  })
})
