import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectPerson } from '../../harness/answering-client.ts'
import { connectStdio, errorOf, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import {
  type Behaviour,
  envelope,
  type FakePlatform,
  json,
  startFakePlatform,
} from '../../harness/fake-platform.ts'
import { seedIds } from '../../harness/sandbox.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

const update = (args: Record<string, unknown>) => client.call('update_phone_number', args)
const lines = ({ content }: Awaited<ReturnType<typeof update>>) =>
  content[0]?.text.split('\n').filter((line) => !line.startsWith('Account: ')) ?? []
const trunkOf = async (phone_number_id: string) =>
  (await client.value('get_phone_number', { phone_number_id })).sip_trunk

describe('one number', () => {
  test('is changed with before and after by name, in one call by names', async () => {
    await client.value('create_agent', { ...newAgent, name: 'Front desk' })
    const set = { phone_number_id: '+12025550111', inbound_agent_id: 'Front desk' }
    const result = await update(set)
    expect(lines(result)[0]).toContain('+12025550111 ("Spare line")')
    expect(lines(result)[1]).toBe('inbound_agent: none → "Front desk"')
    expect(result.structuredContent).toMatchObject({
      id: seedIds.spareNumber,
      inbound_agent: { name: 'Front desk' },
      applied: true,
      changes: [{ field: 'inbound_agent', before: null, after: { name: 'Front desk' } }],
    })
    expect((await update(set)).structuredContent).toMatchObject({
      id: seedIds.spareNumber,
      applied: false,
      changes: [],
      warnings: [],
    })
    const cleared = await update({
      ...set,
      inbound_agent_id: undefined,
      clear: ['inbound_agent_id'],
    })
    expect(lines(cleared)[1]).toBe('inbound_agent: "Front desk" → none')
  })

  test('keeps what is not given', async () => {
    await update({ phone_number_id: 'Hotline', name: 'Hot line' })
    expect(await client.value('get_phone_number', { phone_number_id: 'Hot line' })).toMatchObject({
      number: '+12025550112',
      sip_trunk: { id: seedIds.inboundTrunk },
      inbound_agent: { id: seedIds.supportAgent },
    })
    await update({ phone_number_id: 'Hot line', name: 'Hotline' })
  })

  test('requires exactly one of the arguments that select numbers', async () => {
    for (const which of [{}, { phone_number_id: 'x', phone_number_ids: ['y'] }]) {
      expect(errorOf(await update({ ...which, name: 'z' })).fields).toEqual([
        {
          argument: 'phone_number_id',
          message: expect.stringContaining('phone_number_ids'),
        },
      ])
    }
  })
})

describe('many numbers', () => {
  test('are moved to a trunk in one call; each has a result, and failures come first', async () => {
    const { id } = await client.value('create_sip_trunk', { name: 'New carrier' })
    const phone_number_ids = ['+12025550110', 'Spare line', seedIds.inboundNumber, 'No such line']
    const move = { phone_number_ids, sip_trunk_id: 'New carrier' }
    const dry = await update({ ...move, dry_run: true })
    expect(dry.structuredContent?.summary).toEqual({ failed: 1, would_change: 3 })
    expect(lines(dry)).toContain(
      'sip_trunk: "Office trunk" → "New carrier": +12025550110 ("Main line"), +12025550111 ("Spare line")',
    )
    expect(await trunkOf(seedIds.mainNumber)).toMatchObject({ id: seedIds.trunk })

    const result = await update(move)
    expect(lines(result).slice(1)).toEqual([
      expect.stringContaining('No such line'),
      'sip_trunk: "Office trunk" → "New carrier": +12025550110 ("Main line"), +12025550111 ("Spare line")',
      'sip_trunk: "Inbound only" → "New carrier": +12025550112 ("Hotline")',
    ])
    expect(result.structuredContent).toMatchObject({
      summary: { failed: 1, updated: 3 },
      numbers: [
        { phone_number_id: seedIds.mainNumber, outcome: 'updated' },
        { phone_number_id: seedIds.spareNumber, outcome: 'updated' },
        {
          phone_number_id: seedIds.inboundNumber,
          changes: [{ field: 'sip_trunk', before: { name: 'Inbound only' }, after: { id } }],
        },
        { name: 'No such line', outcome: 'failed' },
      ],
    })
    for (const number of [seedIds.mainNumber, seedIds.spareNumber, seedIds.inboundNumber])
      expect(await trunkOf(number)).toMatchObject({ id })

    const again = await update({ ...move, phone_number_ids: phone_number_ids.slice(0, 3) })
    expect(again.structuredContent?.summary).toEqual({ unchanged: 3 })
  })

  test('count once, whether given by id, name or number', async () => {
    const phone_number_ids = ['Main line', '+12025550110', seedIds.mainNumber]
    const result = await update({ phone_number_ids, sip_trunk_id: 'Office trunk' })
    expect(result.structuredContent?.summary).toEqual({ updated: 1 })
    expect(lines(result)[1]).toContain(`+12025550110, ${seedIds.mainNumber}`)
  })

  test('are refused as a whole if none can be changed, or if a name is ambiguous', async () => {
    expect(errorOf(await update({ phone_number_ids: ['a', 'b'], name: 'c' }))).toMatchObject({
      kind: 'all_failed',
      fields: [{ argument: 'phone_number_ids a' }, { argument: 'phone_number_ids b' }],
    })
    const sip_trunk_id = seedIds.trunk
    const twins: Record<string, unknown>[] = []
    for (const last of [1, 2])
      twins.push(
        await client.value('create_phone_number', {
          ...{ sip_trunk_id, name: 'Twin', number: `+1202555017${last}` },
        }),
      )
    const result = await update({ phone_number_ids: ['Twin', 'Main line'], name: 'Main line' })
    const ids = twins.map(({ id }) => String(id))
    expect(result.structuredContent).toMatchObject({
      summary: { failed: 1, unchanged: 1 },
      numbers: [
        { outcome: 'failed', problem: expect.stringMatching(new RegExp(ids.join('|'))) },
        { name: '+12025550110 ("Main line")', outcome: 'unchanged' },
      ],
    })
  })

  test('cannot all get the same number', async () => {
    const ids = ['Main line', 'Hotline']
    const result = await update({ phone_number_ids: ids, number: '+12025550179' })
    expect(errorOf(result).fields).toMatchObject([{ argument: 'number' }])
  })

  test('are not changed in a dry run, which reports a missing trunk', async () => {
    const phone_number_ids = ['Main line', 'Hotline']
    const result = await update({ phone_number_ids, sip_trunk_id: 'No trunk', dry_run: true })
    expect(errorOf(result).fields).toEqual([
      { argument: 'sip_trunk_id', message: expect.stringContaining('No trunk') },
    ])
  })
})

describe('a platform that fails', () => {
  const uuid = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`
  let platform: FakePlatform
  let wired: TestClient
  beforeAll(async () => {
    platform = await startFakePlatform((_, res) => json(res, 500, {}), { account: 'own' })
    wired = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    })
  })
  afterAll(async () => {
    await wired[Symbol.asyncDispose]()
    await platform[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    platform.seen.length = 0
  })

  const idIn = (url: string) => url.split('/').at(-1) ?? ''
  const numberOf = (id: string, name = 'old') => ({ id, number: null, friendly_name: name })
  /** Reads succeed; `patch` replies to updates. */
  const changing =
    (patch: Behaviour): Behaviour =>
    (request, res, before) =>
      request.method === 'GET'
        ? json(res, 200, numberOf(idIn(request.url)))
        : patch(request, res, before)
  const rename = (ids: string[]) =>
    wired.call('update_phone_number', { phone_number_ids: ids, name: 'new' })

  test('for one of many: the others are changed, and a lost reply is not reported as a failure', async () => {
    platform.behave(
      changing(({ url }, res) => {
        const id = idIn(url)
        if (id === uuid(2)) return json(res, 422, envelope('validation_error', 'Not this one'))
        if (id === uuid(3)) return void res.destroy()
        json(res, 200, numberOf(id, 'new'))
      }),
    )
    const result = await rename([1, 2, 3, 4].map(uuid))
    expect(result.isError).toBeFalsy()
    expect(result.structuredContent).toMatchObject({
      summary: { failed: 1, unknown: 1, updated: 2 },
      numbers: ['updated', 'failed', 'unknown', 'updated'].map((outcome) => ({ outcome })),
    })
    // Failures come first, with the reason.
    expect(lines(result)[1]).toContain('Not this one')
    expect(lines(result)[2]).toContain(uuid(3))
    // Each update was sent once.
    expect(platform.seen.filter(({ method }) => method === 'PATCH')).toHaveLength(4)
  })

  test('by ignoring the change: the number is not reported as updated', async () => {
    platform.behave(changing(({ url }, res) => json(res, 200, numberOf(idIn(url)))))
    expect((await rename([uuid(1), uuid(2)])).structuredContent).toMatchObject({
      summary: { failed: 2 },
    })
    const one = { phone_number_id: uuid(1), name: 'new' }
    expect(await wired.value('update_phone_number', one)).toMatchObject({
      applied: false,
      changes: [],
      warnings: [expect.stringMatching(/^friendly_name: .*"old".*"new"/)],
    })
  })

  test('a hundred names cost one complete list', async () => {
    const items = Array.from({ length: 100 }, (_, at) => numberOf(uuid(at), `Line ${at}`))
    platform.behave(({ url, method }, res) => {
      if (url.includes('offset=100')) return json(res, 200, { count: 100, items: [] })
      if (url.includes('?')) return json(res, 200, { count: 100, items })
      json(res, 200, numberOf(idIn(url), method === 'GET' ? 'old' : 'new'))
    })
    const result = await rename(items.map(({ friendly_name }) => friendly_name))
    expect(result.structuredContent).toMatchObject({ summary: { updated: 100 } })
    expect(platform.seen.filter(({ url }) => url.includes('?'))).toHaveLength(2)
    expect((await rename(Array.from({ length: 101 }, (_, at) => `${at}`))).isError).toBe(true)
  })
})

test.each(['v2 2025', 'v1'] as const)(
  'a %s client gets results that match the schema',
  async (kind) => {
    await using person = await connectPerson(kind, {})
    for (const args of [
      { phone_number_id: 'Main line', name: 'Main' },
      { phone_number_ids: ['Main', 'Hotline', 'x'], name: 'Line' },
    ])
      expect(
        await person.flaws('update_phone_number', await person.call('update_phone_number', args)),
      ).toBeUndefined()
  },
)

test('a number that no exposed tool reads is changed without reading it, and before is unknown', async () => {
  await using narrow = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_TOOLS: 'update_phone_number' },
  })
  const args = { phone_number_id: seedIds.mainNumber, name: 'Main' }
  const result = await narrow.call('update_phone_number', args)
  expect(result.structuredContent).toMatchObject({
    applied: true,
    changes: [{ field: 'friendly_name', after: 'Main' }],
    warnings: [expect.any(String)],
  })
  expect(lines(result).at(-1)).toBe('friendly_name: unknown → "Main"')
})
