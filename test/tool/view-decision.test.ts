import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { checkPrefix, decisionMetaKey, viewExtension, viewMimeType } from '../../src/apps/views.ts'
import { sealingKeysFrom } from '../../src/state/sealing.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'
import { dialogText } from '../../src/text/dialog-text.ts'
import { createConfirmations, NotConfirmed } from '../../src/tool/confirmation.ts'
import { createUsedTokens } from '../../src/tool/single-use-tokens.ts'
import {
  clientKinds,
  connectHttp,
  connectStdio,
  errorOf,
  type TestClient,
  ToolResult,
} from '../harness/client.ts'
import { type Program, scratchFolder, startHttpProgram } from '../harness/program.ts'
import { seedIds } from '../harness/sandbox.ts'

/*
 * A confirmation in a view, sent as a host does: the same tool call with the token from the
 * result's `_meta`. test/browser/decision-view.test.ts tests the buttons.
 */

const asking = { VOICE_AGENT_CONFIRM: 'always', VOICE_AGENT_SANDBOX_SPEED: '50' }
const views = { extensions: { [viewExtension]: { mimeTypes: [viewMimeType] } } }

let http: Program & { url: string }
beforeAll(async () => {
  http = await startHttpProgram(asking)
})
afterAll(() => http[Symbol.asyncDispose]())

const newCall = () => ({
  type: 'phone',
  agent_id: seedIds.supportAgent,
  from_number: '+12025550110',
  to_number: '+12025550101',
  external_id: randomUUID(),
})

const Decision = z.object({
  tool: z.string(),
  confirm_token: z.string(),
  expires_at: z.iso.datetime(),
  refused: z.string().optional(),
  is_done: z.boolean().optional(),
})
const decisionOf = ({ _meta }: ToolResult) => Decision.optional().parse(_meta?.[decisionMetaKey])
const tokenOf = (result: ToolResult) => Decision.parse(decisionOf(result)).confirm_token
const stateOf = ({ structuredContent }: ToolResult) =>
  z.object({ confirmation: z.object({ state: z.string() }) }).safeParse(structuredContent).data
    ?.confirmation.state

describe.each(clientKinds.flatMap((kind) => [[kind, 'stdio'] as const, [kind, 'HTTP'] as const]))(
  'in a view of a %s client over %s',
  (kind, transport) => {
    let client: TestClient
    beforeAll(async () => {
      client =
        transport === 'HTTP'
          ? await connectHttp(kind, http.url, {}, { capabilities: views })
          : await connectStdio(kind, { env: asking, capabilities: views })
    })
    afterAll(() => client[Symbol.asyncDispose]())
    const dialled = async (external_id: string) =>
      (await client.value('list_calls', { external_id })).total

    test('a call is placed once, with a token that no model reads', async () => {
      const call = newCall()
      const preview = await client.call('place_call', call)
      const token = tokenOf(preview)
      const { _meta, ...read } = preview
      expect(JSON.stringify(read)).not.toContain(token)
      expect(decisionOf(preview)?.tool).toBe('place_call')
      expect(await dialled(call.external_id)).toBe(0)
      const placed = await client.value('place_call', { ...call, confirm_token: token })
      expect(placed.external_id).toBe(call.external_id)
      const again = await client.value('place_call', { ...call, confirm_token: token })
      expect(again).toMatchObject({ id: placed.id, repeated: true })
      expect(await dialled(call.external_id)).toBe(1)
    })

    test('the token of a decision is valid for nothing else', async () => {
      const [one, other] = [newCall(), newCall()]
      const confirm_token = tokenOf(await client.call('place_call', one))
      const refused = await client.call('place_call', { ...other, confirm_token })
      expect(decisionOf(refused)?.refused).toBe('changed')
      expect(await dialled(other.external_id)).toBe(0)
    })

    test('checking a token does nothing, and a deleted object stays deleted', async () => {
      const { id } = await client.value('create_sip_trunk', { name: randomUUID() })
      const trunk = { sip_trunk_id: String(id) }
      const token = tokenOf(await client.call('delete_sip_trunk', trunk))
      const check = { ...trunk, confirm_token: checkPrefix + token }
      const open = await client.call('delete_sip_trunk', check)
      expect([stateOf(open), decisionOf(open)?.refused]).toEqual(['needed', undefined])
      expect(decisionOf(open)?.is_done).toBe(false)
      expect(await client.value('get_sip_trunk', trunk)).toMatchObject({ id })
      await client.value('delete_sip_trunk', { ...trunk, confirm_token: token })
      expect(errorOf(await client.call('delete_sip_trunk', check))).toHaveProperty(
        'advice',
        'not_found',
      )
    })

    test('an answered decision says so', async () => {
      const { id } = await client.value('create_agent', {
        name: 'Kept',
        ...{ model: { provider: 'openai', model: 'gpt-4o' } },
        ...{ transcriber: { provider: 'deepgram', model: 'nova-2' } },
        ...{ voice: { provider: 'elevenlabs', voice_id: 'en-us-ada' } },
      })
      const agent = { agent_id: String(id) }
      const confirm_token = tokenOf(await client.call('archive_agent', agent))
      await client.value('archive_agent', { ...agent, confirm_token })
      const later = await client.call('archive_agent', {
        ...agent,
        confirm_token: checkPrefix + confirm_token,
      })
      expect(decisionOf(later)).toMatchObject({ refused: 'used', is_done: true })
    })
  },
)

test('in a client without views, or with forms, there is no token for a view', async () => {
  for (const capabilities of [{}, { ...views, elicitation: {} }]) {
    await using client = await connectStdio('v2 2026-07-28', { env: asking, capabilities })
    const result = await client.call('place_call', newCall()).catch((error: unknown) => error)
    expect(JSON.stringify(result)).not.toContain(decisionMetaKey)
  }
})

test('in mode person, tokens for views are neither issued nor accepted', async () => {
  using folder = scratchFolder()
  const connect = (mode: string) =>
    connectStdio('v2 2026-07-28', {
      env: { ...asking, VOICE_AGENT_CONFIRM: mode, VOICE_AGENT_STATE_DIR: folder.path },
      capabilities: views,
    })
  await using other = await connect('always')
  const call = newCall()
  const withToken = { ...call, confirm_token: tokenOf(await other.call('place_call', call)) }
  await using client = await connect('person')
  for (const asked of [call, withToken]) {
    const refused = await client.call('place_call', asked)
    expect(errorOf(refused).kind).toBe('needs_person')
    expect(decisionOf(refused)).toBeUndefined()
  }
  // The refusals did not invalidate the token.
  expect(await other.value('place_call', withToken)).toHaveProperty('id')
})

test('checking a token changes nothing if no confirmation is needed', async () => {
  const env = { ...asking, VOICE_AGENT_CONFIRM: 'never' }
  await using client = await connectStdio('v2 2026-07-28', { env, capabilities: views })
  const confirm_token = `${checkPrefix}made-up`
  const call = newCall()
  expect(errorOf(await client.call('place_call', { ...call, confirm_token })).kind).toBe('conflict')
  expect(await client.value('list_calls', { external_id: call.external_id })).toMatchObject({
    total: 0,
  })
  const { items } = await client.value('list_agents', { limit: 1 })
  const [agent] = z.array(z.object({ id: z.string(), name: z.string() })).parse(items)
  const update = { agent_id: agent?.id, name: 'Changed', confirm_token }
  expect(errorOf(await client.call('update_agent', update)).kind).toBe('conflict')
  expect(await client.value('get_agent', { agent_id: agent?.id })).toHaveProperty(
    'name',
    agent?.name,
  )
})

test('checking a token returns whether an archive was done, also if it now needs no confirmation', async () => {
  const env = { ...asking, VOICE_AGENT_CONFIRM: 'auto' }
  await using client = await connectStdio('v2 2026-07-28', { env, capabilities: views })
  // This agent answers a number.
  const agent = { agent_id: seedIds.supportAgent }
  const confirm_token = tokenOf(await client.call('archive_agent', agent))
  const check = { ...agent, confirm_token: checkPrefix + confirm_token }
  expect(decisionOf(await client.call('archive_agent', check))).toMatchObject({ is_done: false })
  await client.value('archive_agent', { ...agent, confirm_token })
  const later = decisionOf(await client.call('archive_agent', check))
  expect(later).toMatchObject({ refused: 'used', is_done: true })
})

test('checking a token asks nobody in a form, and records no call', async () => {
  const asked: string[] = []
  await using client = await connectStdio('v2 2026-07-28', {
    env: asking,
    capabilities: views,
    async onAsked(question) {
      asked.push(question)
      return { action: 'accept', content: { confirm: true } }
    },
  })
  const call = newCall()
  const check = { ...call, confirm_token: `${checkPrefix}made-up` }
  expect(errorOf(await client.call('place_call', check)).kind).toBe('conflict')
  expect(asked).toEqual([])
  expect(await client.value('place_call', call)).toHaveProperty('external_id', call.external_id)
})

describe('the token of a view', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => vi.useRealTimers())

  const newConfirmations = () =>
    createConfirmations('always', {
      usedTokens: createUsedTokens(createSqliteRecords(':memory:', '--state-dir')),
      sealingKeys: sealingKeysFrom(async () => ['a secret of this test']),
    })
  type Confirmations = ReturnType<typeof newConfirmations>

  /** Who confirmed the request, or the preview if nobody did. */
  async function answer(confirm: Confirmations, token?: string, keyHash = 'me') {
    const call = { tool: 'place_call', bound: ['x', keyHash], keyHash, token }
    const earlier = { requestState: undefined, answers: undefined }
    const given = await confirm.of({ ...call, asksIn: 'view', redact: String, earlier })
    try {
      return (await given({ kind: 'calls', question: dialogText`Call?`, facts: {} })).by
    } catch (error) {
      if (error instanceof NotConfirmed) return error.result as ToolResult
      throw error
    }
  }
  const ask = async (...request: Parameters<typeof answer>) => {
    const answered = await answer(...request)
    return typeof answered === 'string' ? answered : decisionOf(answered)
  }
  /** The preview's tokens, for the model and for the view. */
  async function preview(confirm: Confirmations, token?: string) {
    const result = ToolResult.parse(await answer(confirm, token))
    const Asked = z.object({ confirmation: z.object({ confirm_token: z.string() }) })
    return { view: tokenOf(result), ...Asked.parse(result.structuredContent).confirmation }
  }
  const mint = async (confirm: Confirmations) => Decision.parse(await ask(confirm)).confirm_token

  test('lasts eleven minutes, and confirms as a view, never as a person', async () => {
    const confirm = newConfirmations()
    const [early, late] = [await mint(confirm), await mint(confirm)]
    vi.setSystemTime(Date.now() + 659_000)
    expect(await ask(confirm, early)).toBe('view')
    vi.setSystemTime(Date.now() + 2000)
    expect(await ask(confirm, late)).toMatchObject({ refused: 'expired' })
    expect(await ask(confirm, early)).toMatchObject({ refused: 'used' })
  })

  test("is used up with the model's token, and the other way round", async () => {
    const confirm = newConfirmations()
    const [seen, clicked] = [await preview(confirm), await preview(confirm)]
    expect(await ask(confirm, seen.confirm_token)).toBe('token')
    expect(await ask(confirm, clicked.view)).toBe('view')
    expect(await ask(confirm, clicked.confirm_token)).toMatchObject({ refused: 'used' })
    // Asking for the state of a decision does not allow a second confirmation.
    const asked = await preview(confirm)
    const open = await preview(confirm, checkPrefix + asked.view)
    expect(open.view).toBe(asked.view)
    expect(await ask(confirm, open.confirm_token)).toBe('token')
    vi.setSystemTime(Date.now() + 650_000)
    for (const { view } of [seen, asked])
      expect(await ask(confirm, view)).toMatchObject({ refused: 'used' })
  })

  test('is valid only for its API key', async () => {
    const confirm = newConfirmations()
    expect(await ask(confirm, await mint(confirm), 'somebody else')).toMatchObject({
      refused: 'changed',
    })
  })

  test('stays unused when it is checked', async () => {
    const confirm = newConfirmations()
    const token = await mint(confirm)
    expect(await ask(confirm, checkPrefix + token)).not.toHaveProperty('refused')
    expect(await ask(confirm, token)).toBe('view')
    expect(await ask(confirm, checkPrefix + token)).toMatchObject({ refused: 'used' })
  })
})
