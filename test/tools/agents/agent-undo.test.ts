import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectPerson } from '../../harness/answering-client.ts'
import {
  type ClientKind,
  clientKinds,
  connectStdio,
  errorOf,
  type TestClient,
} from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { scratchFolder } from '../../harness/program.ts'
import { sandboxKeys } from '../../harness/sandbox.ts'
import { secondKey, startSandboxPlatform } from '../../harness/sandbox-platform.ts'

let sandbox: Awaited<ReturnType<typeof startSandboxPlatform>>
let state: ReturnType<typeof scratchFolder>
let client: TestClient
/** A server on the shared state folder, with this API key. */
const connect = (key: string = sandboxKeys.main, env: Record<string, string> = {}) =>
  connectStdio('v2 2026-07-28', {
    env: { ...sandbox.env(key), VOICE_AGENT_STATE_DIR: state.path, ...env },
  })
beforeAll(async () => {
  sandbox = await startSandboxPlatform()
  state = scratchFolder()
  client = await connect()
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await sandbox[Symbol.asyncDispose]()
  state[Symbol.dispose]()
})

/** Sets the fates of the next updates of agents, in order. */
function nextChanges(...fates: ('lost before' | 'lost after' | { status: number } | undefined)[]) {
  sandbox.decide(({ method, url }) =>
    method === 'PATCH' && url.includes('/agents/') ? fates.shift() : undefined,
  )
  onTestFinished(() => sandbox.decide(() => undefined))
}

let made = 0
const makeAgent = async (more: object = {}) =>
  String((await client.value('create_agent', { ...newAgent, name: `Bot ${made++}`, ...more })).id)

const update = (args: Record<string, unknown>, by = client) => by.value('update_agent', args)
const get = (agent_id: string, by = client) => by.value('get_agent', { agent_id })
const withoutTime = async (agent_id: string) => {
  const { modified: _, ...agent } = await get(agent_id)
  return agent
}
const refusal = async (args: Record<string, unknown>, by = client) => {
  const result = await by.call('update_agent', args)
  expect(result.isError).toBe(true)
  return errorOf(result).fields[0]?.message
}
/** The most recent change in an agent's history. */
const latest = async (agent_id: string, by = client) => {
  const { changes } = await by.value('get_agent', { agent_id, changes: true })
  return Object((changes as object[])[0])
}

describe('a change of an agent', () => {
  test.each<ClientKind>(clientKinds)('is taken back, and so is that (%s)', async (kind) => {
    await using person = await connectPerson(kind, {})
    const { id: agent_id } = await person.value('create_agent', {
      ...newAgent,
      ...{ note: 'a note', metadata: { 'a.b': 1, kept: true }, tags: ['one', 'two'] },
    })
    const before = await person.value('get_agent', { agent_id })
    const result = await person.call('update_agent', {
      agent_id,
      name: 'Renamed',
      remove_tags: ['one'],
      metadata: { c: { d: 2 } },
      voice: { settings: { speed: 1.1 } },
      clear: ['note', 'metadata.a.b'],
      max_duration_seconds: 60,
    })
    expect(await person.flaws('update_agent', result)).toBeUndefined()
    const undo = String(result.structuredContent?.undo)
    expect(result.content[0]?.text).toContain(undo)
    const after = await person.value('get_agent', { agent_id })

    const dry = await person.value('update_agent', { undo, dry_run: true })
    expect(dry).toMatchObject({ applied: false })
    expect(dry).not.toHaveProperty('undo')
    expect(await person.value('get_agent', { agent_id })).toEqual(after)

    const back = await person.call('update_agent', { undo })
    expect(await person.flaws('update_agent', back)).toBeUndefined()
    expect(back.structuredContent).toMatchObject({ agent_id, applied: true, warnings: [] })
    const { modified, ...restored } = await person.value('get_agent', { agent_id })
    expect({ ...restored, modified: before.modified }).toEqual(before)
    expect(modified).not.toBe(before.modified)

    await person.value('update_agent', { undo: back.structuredContent?.undo })
    expect(await person.value('get_agent', { agent_id })).toEqual({
      ...after,
      modified: expect.anything(),
    })
  })

  test('is shown with the agent on request, by its id and fields', async () => {
    const agent_id = await makeAgent({ note: 'old' })
    expect(await latest(agent_id)).toEqual({})
    const { undo } = await update({ agent_id, note: 'new' })
    expect(await latest(agent_id)).toEqual({
      undo,
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      changes: [{ field: 'note', before: 'old', after: 'new' }],
    })
    expect(await get(agent_id)).not.toHaveProperty('changes')
  })

  test('of many is taken back with one call, each agent to its own values', async () => {
    const ids = [
      await makeAgent({ note: 'a', tags: ['undo-many'] }),
      await makeAgent({ tags: ['undo-many'] }),
    ]
    const before = await Promise.all(ids.map(withoutTime))
    const { undo } = await update({ with_tag: 'undo-many', note: 'b', max_duration_seconds: 60 })
    await update({ agent_id: ids[1], max_duration_seconds: 90 })
    const back = await update({ undo })
    expect(back).toMatchObject({ summary: { updated: 2 }, undo: expect.any(String) })
    expect(back.agents).toContainEqual(
      expect.objectContaining({ warnings: [expect.stringContaining('max_duration_seconds')] }),
    )
    expect(await withoutTime(ids[0] ?? '')).toEqual(before[0])
    expect(await get(ids[1] ?? '')).toMatchObject({
      note: before[1]?.note,
      max_duration_seconds: 90,
    })
  })

  test('in several accounts is taken back in each', async () => {
    await using sub = await connect(sandboxKeys.subaccount)
    const there = await sub.value('create_agent', { ...newAgent, name: 'There', tags: ['tree'] })
    const here = await makeAgent({ tags: ['tree'] })
    const { undo } = await update({ with_tag: 'tree', include_subaccounts: true, note: 'both' })
    expect(await update({ undo })).toMatchObject({ summary: { updated: 2 } })
    expect((await get(here)).note ?? null).toBe(null)
    expect((await get(String(there.id), sub)).note ?? null).toBe(null)
  })

  test('in another account is taken back there, and the result names it', async () => {
    const { items } = await client.value('list_subaccounts')
    const [{ id: account_id = '' } = {}] = items as { id: string }[]
    const { id: agent_id } = await client.value('create_agent', { ...newAgent, account_id })
    const { undo } = await update({ agent_id, account_id, note: 'b' })
    expect(await update({ undo, dry_run: true })).toMatchObject({ account_id })
    expect(await update({ undo })).toMatchObject({ account_id, agent_id, applied: true })
  })

  test('that sent nothing has no id', async () => {
    const agent_id = await makeAgent({ note: 'same' })
    expect(await update({ agent_id, note: 'same' })).not.toHaveProperty('undo')
    expect(await update({ agent_id, note: 'other', dry_run: true })).not.toHaveProperty('undo')
  })

  test('is taken back whole: other arguments are refused', async () => {
    const agent_id = await makeAgent()
    const { undo } = await update({ agent_id, note: 'x' })
    for (const [name, more] of Object.entries({
      agent_id: { agent_id },
      note: { note: 'y' },
      add_tags: { add_tags: ['z'] },
      clear: { clear: ['note'] },
    }))
      expect(await refusal({ undo, ...more })).toContain(name)
  })
})

describe('a path that changed since', () => {
  test('stays and is named, and the other paths are restored', async () => {
    const agent_id = await makeAgent({ note: 'a', metadata: { x: 1, y: 1 } })
    const { undo } = await update({ agent_id, note: 'b', metadata: { x: 2, y: 2 } })
    await update({ agent_id, metadata: { x: 3 } })
    const back = await update({ undo })
    expect(back).toMatchObject({
      applied: true,
      changes: [
        { field: 'note', before: 'b', after: 'a' },
        { field: 'metadata.y', before: 2, after: 1 },
      ],
      warnings: [expect.stringMatching(/^metadata\.x: .*\b3\b.*\b2\b/)],
    })
    expect(await get(agent_id)).toMatchObject({ note: 'a', metadata: { x: 3, y: 1 } })
    // The change is already undone.
    expect(await update({ undo })).toMatchObject({ applied: false, changes: [] })
  })

  test('by the platform itself holds what the reply said', async () => {
    const agent_id = await makeAgent({ note: 'a', max_duration_seconds: 100 })
    const before = await withoutTime(agent_id)
    sandbox.decide(({ method, body }) => {
      // The platform trims the note and changes the limit of its own accord.
      const isOurs = method === 'PATCH' && body.includes(' padded ')
      const done = JSON.stringify({ note: 'padded', max_duration_seconds: 99 })
      return isOurs ? { body: done } : undefined
    })
    onTestFinished(() => sandbox.decide(() => undefined))
    const { undo, warnings } = await update({ agent_id, note: ' padded ' })
    expect(warnings).toHaveLength(1)
    expect(await get(agent_id)).toMatchObject({ note: 'padded', max_duration_seconds: 99 })
    await update({ undo })
    expect(await withoutTime(agent_id)).toEqual(before)
  })

  test('with an agent that was archived since goes back, and the agent stays archived', async () => {
    const agent_id = await makeAgent({ note: 'a' })
    const { undo } = await update({ agent_id, note: 'b' })
    await client.value('archive_agent', { agent_id })
    const back = await update({ undo })
    expect(back).toMatchObject({ applied: true, changes: [{ field: 'note', after: 'a' }] })
    const { items } = await client.value('list_agents', { is_archived: true, limit: 100 })
    expect(items).toContainEqual(expect.objectContaining({ id: agent_id }))
  })

  test('of an unarchived agent is restored, except for is_archived', async () => {
    const agent_id = await makeAgent({ note: 'a' })
    await client.value('archive_agent', { agent_id })
    const { undo } = await update({ agent_id, is_archived: false, note: 'b' })
    const back = await update({ undo })
    expect(back.warnings).toEqual([expect.stringMatching(/^is_archived: .*archive_agent/)])
    expect((await get(agent_id)).note).toBe('a')
  })
})

describe('a change of unknown outcome', () => {
  test.each(['lost before', 'lost after'] as const)(
    'that was %s it was done is taken back',
    async (fate) => {
      const agent_id = await makeAgent({ note: 'a', max_duration_seconds: 100 })
      const before = await withoutTime(agent_id)
      nextChanges(fate)
      const result = await client.call('update_agent', { agent_id, note: 'b' })
      expect(result.isError).toBe(true)
      const { undo, outcome } = await latest(agent_id)
      expect(outcome).toBe('unknown')
      expect(errorOf(result)).toMatchObject({ undo, next: expect.stringContaining(`undo ${undo}`) })
      const wasDone = fate === 'lost after'
      expect(await update({ undo })).toMatchObject({ applied: wasDone, warnings: [] })
      expect(await withoutTime(agent_id)).toEqual(before)
    },
  )

  test.each([
    ['never got', 'lost before'],
    ['has done', 'lost after'],
  ] as const)('of a killed server that the platform %s is taken back', async (_, fate) => {
    const agent_id = await makeAgent({ note: 'a' })
    const before = await withoutTime(agent_id)
    await using server = await connect()
    const killed = Promise.withResolvers<void>()
    sandbox.decide(async ({ method }) => {
      if (method !== 'PATCH') return undefined
      sandbox.decide(() => undefined)
      process.kill(server.pid ?? 0, 'SIGKILL')
      killed.resolve()
      return fate
    })
    onTestFinished(() => sandbox.decide(() => undefined))
    update({ agent_id, note: 'b' }, server).catch(() => undefined)
    await killed.promise
    await sleep(100)
    const { undo, outcome } = await latest(agent_id)
    expect(outcome).toBe('unknown')
    await update({ undo })
    expect(await withoutTime(agent_id)).toEqual(before)
  })

  test('and changed since stays', async () => {
    const agent_id = await makeAgent({ note: 'a' })
    nextChanges('lost after')
    await client.call('update_agent', { agent_id, note: 'b' })
    await update({ agent_id, note: 'c' })
    const { changes } = await client.value('get_agent', { agent_id, changes: true })
    const { undo } = Object((changes as object[])[1])
    expect(await update({ undo })).toMatchObject({ applied: false, warnings: [expect.anything()] })
    expect((await get(agent_id)).note).toBe('c')
  })
})

test('refused changes hide no earlier one', async () => {
  const agent_id = await makeAgent({ note: 'a' })
  const { undo } = await update({ agent_id, note: 'b' })
  const refused = Array.from({ length: 10 }, (_, at) => `${at}`)
  nextChanges(...refused.map(() => ({ status: 422 })))
  for (const note of refused) await client.call('update_agent', { agent_id, note })
  expect(await latest(agent_id)).toMatchObject({ undo })
})

test('a change that was refused is not kept', async () => {
  const agent_id = await makeAgent({ note: 'a' })
  nextChanges({ status: 422 })
  const refused = await client.call('update_agent', { agent_id, note: 'b' })
  expect(refused.isError).toBe(true)
  expect(errorOf(refused)).not.toHaveProperty('undo')
  expect(await latest(agent_id)).toEqual({})
  const { content } = await client.call('get_agent', { agent_id, changes: true })
  expect(content[0]?.text).toMatch(/"changes_note":".*none/)
})

describe('kept changes', () => {
  test('are visible to every API key of the account, and to nobody else', async () => {
    const agent_id = await makeAgent({ note: 'a' })
    const { undo } = await update({ agent_id, note: 'b' })
    await using other = await connect(sandboxKeys.other)
    await using subaccount = await connect(sandboxKeys.subaccount)
    for (const stranger of [other, subaccount]) {
      expect(await refusal({ undo }, stranger)).toBe(await refusal({ undo: undo ?? '' }, stranger))
      expect(await refusal({ undo: '0123456789ab' }, stranger)).toContain('no change 0123456789ab')
      expect(await refusal({ undo }, stranger)).toContain(`no change ${undo}`)
    }
    await using second = await connect(secondKey)
    expect(await latest(agent_id, second)).toMatchObject({ undo })
    await update({ undo }, second)
    expect((await get(agent_id)).note).toBe('a')
  })

  test('show no API key that their values contain', async () => {
    const agent_id = await makeAgent({ note: `was ${secondKey}` })
    const { undo } = await update({ agent_id, note: `is ${secondKey}` })
    await using second = await connect(secondKey)
    const shown = [
      await second.call('get_agent', { agent_id, changes: true }),
      await second.call('update_agent', { undo, dry_run: true }),
      await second.call('update_agent', { undo }),
    ]
    expect(JSON.stringify(shown)).toContain('was [API key]')
    expect(JSON.stringify(shown)).not.toContain(secondKey)
  })

  test('of other accounts than the pinned one are unknown', async () => {
    const agent_id = await makeAgent()
    const { undo } = await update({ agent_id, note: 'b' })
    const { items } = await client.value('list_subaccounts')
    const [{ id: VOICE_AGENT_ACCOUNT = '' } = {}] = items as { id: string }[]
    await using pinned = await connect(sandboxKeys.main, { VOICE_AGENT_ACCOUNT })
    expect(await refusal({ undo }, pinned)).toContain(`no change ${undo}`)
  })

  test('are taken back once if two callers do so concurrently', async () => {
    const agent_id = await makeAgent({ note: 'a' })
    const before = await withoutTime(agent_id)
    const { undo } = await update({ agent_id, note: 'b' })
    await using second = await connect(secondKey)
    const both = await Promise.all([update({ undo }), update({ undo }, second)])
    expect(await withoutTime(agent_id)).toEqual(before)
    // An update that changed something can itself be undone.
    const [one] = both.flatMap(({ undo }) => undo ?? [])
    await update({ undo: one })
    expect((await get(agent_id)).note).toBe('b')
  })

  test.each([
    ['are none where the operator wants none', { VOICE_AGENT_UNDO_DAYS: '0' }, '--undo-days'],
    [
      'are none without a usable state',
      { VOICE_AGENT_STATE_DIR: '/dev/null/state' },
      'at the moment',
    ],
  ])('%s, and the change is made', async (_, env, why) => {
    await using server = await connect(sandboxKeys.main, env)
    const agent_id = await makeAgent({ note: 'a' })
    const result = await server.call('update_agent', { agent_id, note: 'b' })
    expect(result.structuredContent).toMatchObject({
      applied: true,
      no_undo: expect.stringContaining(why),
    })
    expect(result.structuredContent).not.toHaveProperty('undo')
    expect(result.content[0]?.text).toContain('cannot be taken back')
    expect((await get(agent_id)).note).toBe('b')
  })

  test('contain no value in plain text', async () => {
    const agent_id = await makeAgent({ note: 'earlier-secret-words' })
    await update({ agent_id, note: 'later-secret-words' })
    const { readFileSync, readdirSync } = await import('node:fs')
    const files = readdirSync(state.path).filter((name) => name.startsWith('undo.db'))
    expect(files).not.toEqual([])
    for (const name of files) {
      const bytes = readFileSync(join(state.path, name), 'latin1')
      for (const text of ['secret-words', agent_id]) expect(bytes).not.toContain(text)
    }
  })
})
