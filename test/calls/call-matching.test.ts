import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { auditFolder } from '../harness/audit-folder.ts'
import {
  type ListedCall,
  type Listing,
  startCallListPlatform,
} from '../harness/call-list-platform.ts'
import { type ClientKind, connectStdio, type TestClient } from '../harness/client.ts'
import { json } from '../harness/fake-platform.ts'
import { scratchFolder } from '../harness/program.ts'

type ListingPlatform = Awaited<ReturnType<typeof startCallListPlatform>>

const kind: ClientKind = 'v2 2026-07-28'
const from_number = '+493023125000'
const to_number = '+4915112345670'
const another = '+4915112345671'
const id = 'order-2026-11-22-0001'

const connect = (platform: ListingPlatform, env: Record<string, string> = {}) =>
  connectStdio(kind, { env: { ...platform.env, ...env } })

const phone = ({ agent }: ListingPlatform, more: object = {}) => ({
  ...{ type: 'phone', agent_id: agent.id, from_number, to_number },
  ...more,
})

/** Call id or error of place_call. */
async function placed(client: TestClient, platform: ListingPlatform, more: object = {}) {
  const result = await client.call('place_call', phone(platform, more))
  const error = result._meta?.['voice-agent-mcp/error'] as { kind: string } | undefined
  return {
    callId: result.structuredContent?.id,
    repeated: result.structuredContent?.repeated,
    kind: error?.kind,
    text: result.content[0]?.text ?? '',
  }
}

/** Outcome of place_calls with one call. */
async function listed(client: TestClient, { agent }: ListingPlatform, more: object = {}) {
  const calls = [{ to_number, ...more }]
  const list = await client.value('place_calls', { agent_id: agent.id, from_number, calls })
  const [one] = list.calls as { outcome: string; call_id?: string; problem?: string }[]
  return one
}

const text = (value: unknown) => String(value)
const forms: [string, (call: ListedCall) => object][] = [
  ['its numbers without +', (call) => ({ to_number: text(call.to_number).slice(1) })],
  ['a national number', () => ({ to_number: '0151 123 456 70' })],
  ['a number of a pool to call from', () => ({ from_number: '+493099999999' })],
  ['a prefix before its agent id', (call) => ({ agent_id: `agent_${text(call.agent_id)}` })],
  ['its number masked', () => ({ to_number: '+4915******99' })],
  ['no number', () => ({ to_number: null, from_number: null, agent_id: null, type: 'unknown' })],
]

describe('a call whose reply was lost, if it is listed', () => {
  test.each(forms)('under its external id with %s, is found', async (_, show) => {
    await using platform = await startCallListPlatform({ show })
    await using client = await connect(platform)
    expect(await placed(client, platform)).toMatchObject({ callId: 'call-0', repeated: false })
    const one = await listed(client, platform, { external_id: id })
    expect(one).toMatchObject({ outcome: 'placed', call_id: 'call-1' })
    expect(await placed(client, platform)).toMatchObject({ callId: 'call-0', repeated: true })
    expect(platform.sent).toHaveLength(2)
  })

  test.each([
    ['in capitals', (call: ListedCall) => text(call.external_id).toUpperCase()],
    ['after a prefix', (call: ListedCall) => `tenant-7:${text(call.external_id)}`],
  ])('under an external id of this server %s, is found', async (_, spelled) => {
    const show = (call: ListedCall) => ({ external_id: spelled(call) })
    await using platform = await startCallListPlatform({ show, ignores: ['external_id'] })
    await using client = await connect(platform)
    expect(await placed(client, platform)).toMatchObject({ callId: 'call-0' })
    expect(platform.sent).toHaveLength(1)
  })

  test('under an external id of this server with another person, is found', async () => {
    await using platform = await startCallListPlatform({ show: () => ({ to_number: another }) })
    await using client = await connect(platform)
    expect(await listed(client, platform)).toMatchObject({ outcome: 'placed', call_id: 'call-0' })
  })

  test('under the caller’s id with another person, is reported as unknown, with both numbers', async () => {
    await using platform = await startCallListPlatform({ show: () => ({ to_number: another }) })
    using folder = auditFolder()
    await using client = await connect(platform, folder.env)
    const first = await placed(client, platform, { external_id: id })
    expect(first.kind).toBe('unknown_outcome')
    for (const word of [to_number, another, 'call-0', id]) expect(first.text).toContain(word)
    const inList = await listed(client, platform, { external_id: `${id}-b` })
    expect(inList).toMatchObject({ outcome: 'unknown' })
    const again = await placed(client, platform, { external_id: id })
    expect(again.kind).toBe('unknown_outcome')
    expect(platform.sent).toHaveLength(2)
    const outcomes = (await folder.ended(3, 'audit.db')).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['unknown', 'unknown', 'unknown'])
  })
})

/** Lists of calls in which the placed call cannot be identified. */
const unclear: [string, Listing][] = [
  ['no external ids', { show: () => ({ external_id: null }) }],
  [
    'no external ids, and ignores the filter',
    { show: () => ({ external_id: null }), ignores: ['external_id'] },
  ],
  [
    'external ids after a prefix',
    { show: (call) => ({ external_id: `t:${text(call.external_id)}` }) },
  ],
  [
    'external ids in capitals',
    { show: (call) => ({ external_id: text(call.external_id).toUpperCase() }) },
  ],
  [
    'external ids that are cut',
    { show: (call) => ({ external_id: text(call.external_id).slice(0, 10) }) },
  ],
  ['external ids of its own', { show: (call) => ({ external_id: `ref-${text(call.id)}` }) }],
  [
    'no external ids, and agents and numbers in other forms',
    {
      show: (call) => ({
        external_id: null,
        agent_id: `agent_${text(call.agent_id)}`,
        to_number: text(call.to_number).slice(1),
        from_number: '+493099999999',
      }),
    },
  ],
  [
    'no external ids, and masked numbers',
    { show: () => ({ external_id: null, to_number: '+49151****' }) },
  ],
  ...['...', '-----', '()', ' - ', 'xxxx', '…', ' '].map((gap): [string, Listing] => [
    `no external ids, and numbers with "${gap}" for some digits`,
    {
      show: ({ to_number: number }) => ({
        external_id: null,
        to_number: text(number).slice(0, 6) + gap + text(number).slice(-4),
      }),
    },
  ]),
  [
    'no external ids, on small pages that count themselves',
    { show: () => ({ external_id: null }), maxOnPage: 7, count: (_, onPage) => onPage },
  ],
  [
    'no external ids, on the first of many pages only',
    { show: () => ({ external_id: null }), maxOnPage: 7, ignores: ['offset'] },
  ],
  [
    'no external ids, on one page that counts itself, whatever the offset',
    {
      show: () => ({ external_id: null }),
      ignores: ['offset'],
      maxOnPage: 7,
      count: (_, onPage) => onPage,
    },
  ],
]

describe('after the wait, a call whose reply was lost', () => {
  test.each(unclear)('is not sent again if the platform lists %s', async (_, listing) => {
    await using platform = await startCallListPlatform(listing)
    for (let other = 0; other < 30; other++)
      platform.add({ external_id: `theirs-${other}`, to_number: another, type: 'phone' })
    await using client = await connect(platform)
    for (const more of [{}, { external_id: id }]) {
      await placed(client, platform, more)
      const again = await placed(client, platform, more)
      // An id of this server matches in upper case and with a prefix.
      if (again.callId === undefined) expect(again.kind).toBe('unknown_outcome')
      else expect(more).toEqual({})
    }
    const ids = platform.sent.map(({ external_id }) => external_id)
    expect(ids).toHaveLength(new Set(ids).size)
    expect(ids.length).toBeGreaterThan(0)
  })

  test('is not sent again two days later, after a restart of the machine', async () => {
    await using platform = await startCallListPlatform({ show: () => ({ external_id: null }) })
    using folder = scratchFolder()
    const env = { VOICE_AGENT_STATE_DIR: folder.path, VOICE_AGENT_CALL_FIND_OUT: '1' }
    const place = async () => {
      await using client = await connect(platform, env)
      return await placed(client, platform)
    }
    const change = (sql: string) => {
      using db = new DatabaseSync(join(folder.path, 'calls.db'))
      db.exec(`UPDATE calls SET ${sql}`)
    }
    expect(await place()).toMatchObject({ kind: 'unknown_outcome' })
    const twoDays = 2 * 86_400_000
    for (const call of platform.calls)
      call.created = new Date(Date.parse(call.created) - twoDays).toISOString()
    const before = "uptime = 0, boot = 'before', sent_uptime = 0, sent_boot = 'before'"
    change(`since = since - ${twoDays}, sent = sent - ${twoDays}, ${before}`)
    // The elapsed time is unknown, so the deadline restarts: one minute from now.
    expect(await place()).toMatchObject({ kind: 'unknown_outcome' })
    change('since = since - 61000, uptime = uptime - 61000')
    expect(await place()).toMatchObject({ kind: 'unknown_outcome' })
    expect(platform.sent).toHaveLength(1)
  })

  test('is not sent again, and the listed call that may be the same is named', async () => {
    await using platform = await startCallListPlatform({ show: () => ({ external_id: null }) })
    await using client = await connect(platform)
    await placed(client, platform)
    const { text } = await placed(client, platform)
    expect(text).toContain(`call_id call-0, to_number ${to_number}`)
    expect(await listed(client, platform)).toMatchObject({ outcome: 'unknown' })
    expect(platform.sent).toHaveLength(1)
  })

  test.each<[string, Listing]>([
    ['lists other people, and no ids', { show: () => ({ external_id: null }) }],
    [
      'lists other people, and no ids, with numbers in groups',
      {
        show: ({ to_number: number }) => ({
          external_id: null,
          to_number: text(number).replace(/^(\+\d\d)(\d\d)(\d{4})(.*)$/, '$1 ($2) $3-$4'),
        }),
      },
    ],
    ['ignores the filter', { ignores: ['external_id'] }],
    ['shows small pages that count themselves', { maxOnPage: 7, count: (_, onPage) => onPage }],
    ['counts nothing', { count: () => undefined }],
  ])(
    'is sent once more where it was not placed, by a platform that %s',
    async (_, listing) => {
      await using platform = await startCallListPlatform(listing, [false, true, false])
      for (let other = 0; other < 350; other++) {
        const number = `+4930${String(11_111_111 + other)}`
        platform.add({ external_id: `theirs-${other}`, to_number: number, type: 'phone' })
      }
      await using client = await connect(platform)
      for (const more of [{}, { external_id: id }]) {
        platform.loseAnswers(1)
        expect(await placed(client, platform, more)).toMatchObject({ repeated: false })
      }
      expect(platform.sent).toHaveLength(4)
    },
    60_000,
  )

  test('is sent once more although this server has called the person before', async () => {
    await using platform = await startCallListPlatform({ show: () => ({ external_id: null }) }, [
      true,
      false,
    ])
    await using client = await connect(platform)
    platform.loseAnswers(0)
    expect(await placed(client, platform, { medium: 'one' })).toMatchObject({ callId: 'call-0' })
    platform.loseAnswers(1)
    expect(await placed(client, platform)).toMatchObject({ callId: 'call-1', repeated: false })
    expect(platform.sent).toHaveLength(3)
  })

  test('is not sent again if the filter works but the list has no end', async () => {
    const listing: Listing = { ignores: ['offset'], maxOnPage: 7 }
    await using platform = await startCallListPlatform(listing, [false])
    for (let other = 0; other < 30; other++)
      platform.add({ external_id: `theirs-${other}`, to_number: another })
    await using client = await connect(platform)
    await placed(client, platform)
    const again = await placed(client, platform)
    expect(again).toMatchObject({ kind: 'unknown_outcome' })
    expect(again.text.replaceAll(/external_id [\w-]+/g, 'external_id …')).toMatchSnapshot()
    expect(platform.sent).toHaveLength(1)
  })

  test('is not taken for a different request with its external id, and neither is sent', async () => {
    await using platform = await startCallListPlatform({ show: () => ({ external_id: null }) })
    await using client = await connect(platform)
    await placed(client, platform, { external_id: id })
    const other = await placed(client, platform, { external_id: id, medium: 'another' })
    expect(other).toMatchObject({ kind: 'unknown_outcome' })
    expect(platform.sent).toHaveLength(1)
  })
})

describe('before the first send under the caller’s id, a call of another installation', () => {
  const others = (platform: ListingPlatform, count: number) => {
    for (let other = 0; other < count; other++)
      platform.add({ external_id: `theirs-${other}`, to_number: another, type: 'phone' })
  }

  /** Places a call that another installation has already placed `daysAgo` days ago. */
  async function afterAnother(
    listing: Listing,
    {
      more = {},
      before = 0,
      daysAgo = 29,
    }: { more?: object; before?: number; daysAgo?: number } = {},
  ) {
    await using platform = await startCallListPlatform(listing)
    platform.loseAnswers(0)
    others(platform, before)
    const theirs = phone(platform, { external_id: id, ...more })
    platform.add(theirs, daysAgo * 86_400_000)
    await using client = await connect(platform)
    const answer = await placed(client, platform, { external_id: id })
    return { ...answer, sent: platform.sent.length }
  }

  test.each(forms.filter(([name]) => name !== 'its number masked'))(
    'is that call, listed with %s',
    async (_, show) => {
      expect(await afterAnother({ show })).toMatchObject({
        callId: 'call-0',
        repeated: true,
        sent: 0,
      })
    },
  )

  test.each([0, 99, 100, 350])(
    'is found after %s others where the filter is ignored',
    async (before) => {
      const answer = await afterAnother({ ignores: ['external_id'] }, { before })
      expect(answer).toMatchObject({ callId: `call-${before}`, repeated: true, sent: 0 })
    },
  )

  test.each(['+49151...5670', '+49151-----70', '+4915******70', '+49151 5670'])(
    'is unknown where its number is shown as %s',
    async (masked) => {
      const answer = await afterAnother({ show: () => ({ to_number: masked }) })
      expect(answer).toMatchObject({ kind: 'unknown_outcome', sent: 0 })
      expect(answer.text).toContain('call-0')
    },
  )

  test.each<[string, Listing, number]>([
    ['the list has no end', { ignores: ['external_id', 'offset'], maxOnPage: 20 }, 30],
    [
      'it has another form of the id, after 1,200 others',
      { show: (call) => ({ external_id: `t:${text(call.external_id)}` }) },
      1200,
    ],
    [
      'it is listed without its id',
      { show: () => ({ external_id: null }), ignores: ['external_id'] },
      30,
    ],
    [
      'its id is cut',
      { show: (call) => ({ external_id: text(call.external_id).slice(0, 12) }) },
      30,
    ],
    [
      'its id has a prefix',
      { show: (call) => ({ external_id: `t:${text(call.external_id)}` }) },
      30,
    ],
    [
      'its id has a prefix and is cut',
      { show: (call) => ({ external_id: `tenant:${text(call.external_id)}`.slice(0, 20) }) },
      30,
    ],
    [
      'its id is in capitals',
      { show: (call) => ({ external_id: text(call.external_id).toUpperCase() }) },
      30,
    ],
  ])('is unknown if %s, and nothing is sent', async (_, listing, before) => {
    const answer = await afterAnother(listing, { before })
    expect(answer).toMatchObject({ kind: 'unknown_outcome', sent: 0 })
  })

  test.each([
    ['person', { to_number: another }],
    ['agent', { agent_id: '00000000-0000-4000-8000-00000000a6e7' }],
    ['type', { type: 'web' }],
  ])('with another %s is a conflict that names the call', async (_, more) => {
    const answer = await afterAnother({}, { more })
    expect(answer).toMatchObject({ kind: 'bad_arguments', sent: 0 })
    expect(answer.text).toMatch(/- external_id: .*\(call_id call-0, /)
  })

  test.each<[string, Listing, object]>([
    [
      'is of another person',
      { ignores: ['external_id'] },
      { external_id: 'order-2', to_number: another },
    ],
    ['has another id', { ignores: ['external_id'] }, { external_id: 'visit of 2026-11-21' }],
    ['has no id, and the filter works', {}, { external_id: null }],
    ['is older than a journal', { show: () => ({ external_id: 'order' }) }, {}],
  ])('that %s is another call', async (what, listing, more) => {
    const daysAgo = what.includes('older') ? 31 : 1
    const answer = await afterAnother(listing, { more, daysAgo, before: 250 })
    expect(answer).toMatchObject({ repeated: false, sent: 1 })
  })

  test('that cannot be found in time is unknown, and its external id stays usable', async () => {
    await using platform = await startCallListPlatform({ maxOnPage: 20 })
    others(platform, 200)
    platform.loseAnswers(0)
    await using client = await connect(platform, { VOICE_AGENT_CALL_FIND_OUT: '1' })
    for (const readMs of [200, 2000]) {
      platform.delayReads(readMs)
      const answer = await placed(client, platform, { external_id: id })
      expect(answer).toMatchObject({ kind: 'unknown_outcome' })
      expect(answer.text).toMatchSnapshot()
      expect(platform.sent).toEqual([])
    }
    platform.delayReads(0)
    const again = () => placed(client, platform, { external_id: id })
    await expect.poll(again).toMatchObject({ repeated: false })
    expect(platform.sent).toHaveLength(1)
  })
})

test('a reply with an empty id does not identify the call, so the call is looked up', async () => {
  await using platform = await startCallListPlatform()
  const list = platform.behaviour
  platform.behave((request, response, before) => {
    if (request.method !== 'POST') return list(request, response, before)
    platform.add(JSON.parse(request.body))
    json(response, 201, { id: '' })
  })
  await using client = await connect(platform)
  expect(await placed(client, platform)).toMatchObject({ callId: 'call-0', repeated: false })
  expect(platform.calls).toHaveLength(1)
})
