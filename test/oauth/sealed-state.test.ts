import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createKeptKeys } from '../../src/oauth/platform-keys.ts'
import { createStateAdapters } from '../../src/oauth/state-adapter.ts'
import type { NewRecord, Records } from '../../src/state/records.ts'
import { createSealer, type Secrets, sealingKeysFrom } from '../../src/state/sealing.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'

const keysOf = (...secrets: Secrets) => sealingKeysFrom(async () => secrets)
const audience = 'https://voice.example.com/mcp'
const grant = { of: 'grant', id: 'grant-1' } as const
const key = { apiKey: 'key-in-clear', account: { id: 'account-1', name: undefined } }

/** Records whose stored values the test can read and change. */
function openRecords() {
  const stored = new Map<string, string>()
  const memory = createSqliteRecords(':memory:', '--state-dir')
  const note = ({ kind, id, value }: NewRecord) => void stored.set(`${kind} ${id}`, value)
  const records: Records = {
    ...memory,
    add: (record, bounds) => {
      note(record)
      return memory.add(record, bounds)
    },
    put: (record, bounds) => {
      note(record)
      return memory.put(record, bounds)
    },
  }
  return { records, stored }
}

describe('a sealed text', () => {
  test('opens with its own context and purpose only, and not when a bit of it was changed', async () => {
    const keys = keysOf('a')
    const sealer = createSealer(keys, 'one')
    const sealed = await sealer.seal('text', ['context', 1])
    expect(sealed).not.toBe(await sealer.seal('text', ['context', 1]))
    expect(await sealer.open(sealed, ['context', 1])).toBe('text')
    expect(await sealer.open(sealed, ['context', 2])).toBeUndefined()
    expect(await createSealer(keys, 'other').open(sealed, ['context', 1])).toBeUndefined()
    const bytes = Buffer.from(sealed, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const copy = Buffer.from(bytes)
      copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(await sealer.open(copy.toString('base64url'), ['context', 1])).toBeUndefined()
    }
    expect(await sealer.open('short', ['context', 1])).toBeUndefined()
  })

  test('opens while its secret is still among those of the server', async () => {
    const sealed = await createSealer(keysOf('old'), 'p').seal('text', [])
    expect(await createSealer(keysOf('new', 'old'), 'p').open(sealed, [])).toBe('text')
    expect(await createSealer(keysOf('new'), 'p').open(sealed, [])).toBeUndefined()
  })
})

describe('a kept key', () => {
  afterEach(() => void vi.useRealTimers())

  test('is stored in no clear form, and is for one grant and one resource', async () => {
    const { records, stored } = openRecords()
    const sealingKeys = keysOf('a')
    const kept = createKeptKeys({ records, sealingKeys, audience })
    await kept.keep(grant, key, 60_000)
    expect([...stored.values()].join()).not.toContain('key-in-clear')
    expect(await kept.find(grant)).toEqual(key)
    expect(await kept.find({ of: 'interaction', id: grant.id })).toBeUndefined()
    const elsewhere = createKeptKeys({ records, sealingKeys, audience: 'https://other/mcp' })
    expect(await elsewhere.find(grant)).toBeUndefined()
  })

  test('does not open after its time, also if the stored time is changed', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 })
    const { records, stored } = openRecords()
    const kept = createKeptKeys({ records, sealingKeys: keysOf('a'), audience })
    await kept.keep(grant, key, 1000)
    const value = stored.get('oauth_key grant grant-1') ?? ''
    vi.setSystemTime(2000)
    expect(await kept.find(grant)).toBeUndefined()
    const later = value.replace('"expires":1000', '"expires":9000')
    expect(later).not.toBe(value)
    const record = { kind: 'oauth_key', id: 'grant grant-1', owner: '', forMs: 9000 } as const
    await records.put({ ...record, value: later })
    expect(await kept.find(grant)).toBeUndefined()
  })
})

describe('what oidc-provider keeps', () => {
  const open = () => {
    const { records, stored } = openRecords()
    const sealingKeys = keysOf('a')
    const keptKeys = createKeptKeys({ records, sealingKeys, audience })
    return { stored, keptKeys, adapters: createStateAdapters({ records, sealingKeys, keptKeys }) }
  }
  const exp = Math.ceil(Date.now() / 1000) + 3600

  test('holds no token in clear', async () => {
    const { stored, keptKeys, adapters } = open()
    const codes = adapters.of('AuthorizationCode')
    await keptKeys.keep(grant, key, 60_000)
    await codes.upsert('id', { jti: 'code-in-clear', grantId: 'grant-1' }, 60)
    expect(await codes.find('id')).toMatchObject({ jti: 'code-in-clear' })
    expect([...stored.values()].join()).not.toContain('in-clear')
  })

  test('is valid while the grant has its key', async () => {
    const { keptKeys, adapters } = open()
    const codes = adapters.of('AuthorizationCode')
    await codes.upsert('id', { grantId: 'grant-1', exp }, 60)
    expect(await codes.find('id')).toBeUndefined()
    await keptKeys.keep(grant, key, 60_000)
    expect(await codes.find('id')).toMatchObject({ grantId: 'grant-1' })
    await codes.revokeByGrantId('grant-1')
    expect(await codes.find('id')).toBeUndefined()
    expect(await keptKeys.has(grant)).toBe(false)
  })

  test('is used by one of many, and the others end the grant', async () => {
    const { keptKeys, adapters } = open()
    const codes = adapters.of('AuthorizationCode')
    await keptKeys.keep(grant, key, 60_000)
    await codes.upsert('id', { grantId: 'grant-1', exp }, 60)
    const uses = await Promise.allSettled(Array.from({ length: 20 }, () => codes.consume('id')))
    expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await keptKeys.has(grant)).toBe(false)
  })

  test('has an assertion of a client once, for minutes, however long it would be valid', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    onTestFinished(() => void vi.useRealTimers())
    const replays = open().adapters.of('ReplayDetection')
    const use = () => replays.upsert('id', { iss: 'client' }, 80 * 365 * 86_400)
    const uses = await Promise.allSettled([use(), use(), use()])
    expect(uses.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(use()).rejects.toMatchObject({ error: 'invalid_client' })
    vi.setSystemTime(Date.now() + 6 * 60_000)
    expect(await replays.find('id')).toBeDefined()
    vi.setSystemTime(Date.now() + 4 * 60_000)
    expect(await replays.find('id')).toBeUndefined()
  })

  test('has so many assertions of one client that others have room; a full one was not used', async () => {
    const replays = open().adapters.of('ReplayDetection')
    const use = (id: number, iss: string) => replays.upsert(`${iss} ${id}`, { iss }, 60)
    const uses = await Promise.allSettled(Array.from({ length: 5000 }, (_, id) => use(id, 'one')))
    const refused = uses.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused.length).toBeGreaterThan(2000)
    expect(new Set(refused.map(({ error }) => error))).toEqual(new Set(['temporarily_unavailable']))
    await use(0, 'other')
  })

  test('has so many grants of one account that others have room', async () => {
    const { keptKeys } = open()
    const keep = (id: number, account: string) =>
      keptKeys.keep(
        { of: 'grant', id: `${account} ${id}` },
        { ...key, account: { id: account, name: undefined } },
        60_000,
      )
    const kept = await Promise.allSettled(Array.from({ length: 10_001 }, (_, id) => keep(id, 'a')))
    expect(kept.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    await keep(0, 'b')
  })

  test('does not include logins: a session is forgotten', async () => {
    const { stored, adapters } = open()
    await adapters.of('Session').upsert('id', { uid: 'u' }, 60)
    expect(await adapters.of('Session').find('id')).toBeUndefined()
    expect(stored.size).toBe(0)
  })
})
