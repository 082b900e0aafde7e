import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  confirmationOf,
  connectPerson,
  factsOf,
  type Person,
  tokenOf,
  yes,
} from '../../harness/answering-client.ts'
import { type ClientKind, connectStdio, errorOf } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'

let made = 0
const makeAgents = (count: number, person: Person, more: object = {}) =>
  Promise.all(
    Array.from({ length: count }, () =>
      person.value('create_agent', { ...newAgent, name: `Old ${made++}`, ...more }),
    ),
  )

/** Assigns the agent to a phone number. */
const giveNumber = async (agent: Record<string, unknown> | undefined, person: Person) => {
  const { items } = await person.value('list_sip_trunks')
  const [trunk] = items as { id: string }[]
  const number = `+1202555${String(1000 + made++).padStart(4, '0')}`
  const links = { sip_trunk_id: trunk?.id, inbound_agent_id: agent?.id }
  await person.value('create_phone_number', { number, name: 'Line', ...links })
  return number
}

const namesOf = (agents: readonly Record<string, unknown>[]) => agents.map(({ name }) => name)

const listed = async (person: Person, tag: string) =>
  (await person.value('list_agents', { tags: [tag] })).total

describe('archive_agent for many', () => {
  let person: Person
  beforeAll(async () => {
    person = await connectPerson('v2 2026-07-28', {})
  })
  afterAll(() => person[Symbol.asyncDispose]())

  test.each<ClientKind>(['v2 2026-07-28', 'v2 2025', 'v1'])(
    'archives all with a tag at once, after a question (%s)',
    async (kind) => {
      await using own = await connectPerson(kind, {})
      const agents = await makeAgents(3, own, { tags: ['old'] })
      const result = await own.agreed('archive_agent', { with_tag: 'old' })
      expect(await own.flaws('archive_agent', result)).toBeUndefined()
      expect(result.structuredContent).toMatchObject({ summary: { archived: 3 } })
      for (const name of namesOf(agents)) expect(result.content[0]?.text).toContain(String(name))
      expect(await listed(own, 'old')).toBe(0)
    },
  )

  test('asks about one in the singular', async () => {
    const [agent] = await makeAgents(1, person, { tags: ['alone'] })
    await giveNumber(agent, person)
    const preview = await person.call('archive_agent', { with_tag: 'alone' })
    expect(confirmationOf(preview)?.question).toMatch(/\b1 agent\b/)
  })

  test.each([
    ['a tag', { with_tag: 'ask' }],
    ['tags', { where: { tags: ['ask', 'both'] } }],
    ['any of some tags', { where: { any_tag: ['ask', 'nobody has it'] } }],
    ['disuse', { where: { tags: ['ask'], unused_since: '2026-01-01T00:00:00Z' } }],
    ['an account', { agent_ids: ['*'] }],
  ])('always asks if %s selects several agents, in use or not', async (_, selection) => {
    await using own = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_CONFIRM: 'auto' },
    })
    await makeAgents(2, own, { tags: ['ask', 'both'] })
    const [alone] = await makeAgents(1, own, { tags: ['alone'] })
    const preview = await own.call('archive_agent', selection)
    expect(confirmationOf(preview)?.state).toBe('needed')
    expect(await listed(own, 'ask')).toBe(2)
    // Only one agent matches, and it is not in use.
    const one = await own.value('archive_agent', { where: { any_tag: ['alone'] } })
    expect(one.summary).toEqual({ archived: 1 })
    expect((one.agents as object[])[0]).toMatchObject({ agent_id: alone?.id })
  })

  test('asks once for all if one is in use, and names it', async () => {
    const agents = await makeAgents(3, person, { tags: ['mixed'] })
    const number = await giveNumber(agents[1], person)
    const preview = await person.call('archive_agent', { with_tag: 'mixed' })
    expect(confirmationOf(preview)?.question).toMatch(/\b3 agents\b/)
    const facts = factsOf(preview)
    for (const name of namesOf(agents)) expect(facts?.Agents).toContain(`"${name}"`)
    expect(facts?.['In use']).toBe(`"${agents[1]?.name}" answers ${number} ("Line")`)
    expect(facts?.['Leave those out']).toContain('unused_only true')
    expect(await listed(person, 'mixed')).toBe(3)
    const confirm_token = tokenOf(preview)
    const done = await person.value('archive_agent', { with_tag: 'mixed', confirm_token })
    expect(done.summary).toEqual({ archived: 3 })
    expect(await listed(person, 'mixed')).toBe(0)
  })

  test('refuses a token whose preview named other agents in use', async () => {
    const agents = await makeAgents(2, person)
    await giveNumber(agents[0], person)
    const args = { agent_ids: agents.map(({ id }) => id) }
    const confirm_token = tokenOf(await person.call('archive_agent', args))
    const second = await giveNumber(agents[1], person)
    const again = await person.call('archive_agent', { ...args, confirm_token })
    expect(confirmationOf(again)?.state).toBe('needed')
    expect(factsOf(again)?.['In use']).toContain(second)
  })

  test('asks a person the same question, and obeys the answer', async () => {
    await using own = await connectPerson('v2 2026-07-28', { answer: yes })
    const agents = await makeAgents(2, own, { tags: ['asked'] })
    await giveNumber(agents[0], own)
    own.answers({ action: 'decline' })
    const declined = await own.call('archive_agent', { with_tag: 'asked' })
    expect(confirmationOf(declined)?.state).toBe('declined')
    expect(await listed(own, 'asked')).toBe(2)
    own.answers(yes)
    await own.value('archive_agent', { with_tag: 'asked' })
    expect(own.asked).toHaveLength(2)
    expect(await listed(own, 'asked')).toBe(0)
  })

  test('skips agents in use with unused_only, and names their use', async () => {
    const agents = await makeAgents(3, person, { tags: ['some'] })
    const number = await giveNumber(agents[2], person)
    const args = { with_tag: 'some', unused_only: true }
    const facts = factsOf(await person.call('archive_agent', args))
    expect(facts?.['Not archived']).toBe(`"${agents[2]?.name}" answers ${number} ("Line")`)
    const { structuredContent: kept } = await person.agreed('archive_agent', args)
    expect(kept?.summary).toEqual({ archived: 2, in_use: 1 })
    expect(kept?.agents).toContainEqual(
      expect.objectContaining({
        ...{ agent_id: agents[2]?.id, outcome: 'in_use' },
        problem: expect.stringContaining(`${number} ("Line")`),
      }),
    )
    expect(await listed(person, 'some')).toBe(1)
    const again = await person.call('archive_agent', { agent_id: agents[2]?.id, unused_only: true })
    expect(again.structuredContent).toMatchObject({ summary: { in_use: 1 } })
    expect(await listed(person, 'some')).toBe(1)
  })

  test('names a call that is running', async () => {
    await using own = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_SANDBOX_SPEED: '0.1', VOICE_AGENT_CONFIRM: 'auto' },
    })
    const [busy, idle] = await makeAgents(2, own)
    const call = { agent_id: busy?.id, type: 'web' }
    const confirm_token = tokenOf(await own.call('place_call', call))
    await own.value('place_call', { ...call, confirm_token })
    const preview = await own.call('archive_agent', { agent_ids: [busy?.id, idle?.id] })
    expect(factsOf(preview)?.['In use']).toMatch(
      new RegExp(`^"${busy?.name}" [^"]*\\bcall\\b[^"]*$`),
    )
  })

  test('counts agents that were already archived, and names failures first', async () => {
    const [one, other] = await makeAgents(2, person)
    await person.value('archive_agent', { agent_id: one?.id })
    const agent_ids = [one?.id, 'nobody at all', other?.name]
    const { content, structuredContent } = await person.call('archive_agent', { agent_ids })
    expect(structuredContent).toMatchObject({ summary: { failed: 1, archived: 1, unchanged: 1 } })
    expect(content[0]?.text.split('\n')[1]).toContain('nobody at all')
  })

  test('is an error if no agent exists', async () => {
    const result = await person.call('archive_agent', { agent_ids: ['nobody', 'no one'] })
    expect(result.isError).toBe(true)
    expect(errorOf(await person.call('archive_agent', {})).fields).toMatchObject([
      { argument: 'agent_id' },
    ])
  })

  test('names a single agent in the result', async () => {
    const [agent] = await makeAgents(1, person)
    const { content, structuredContent } = await person.call('archive_agent', {
      agent_id: agent?.name,
    })
    expect(content[0]?.text).toContain(`${agent?.name} (${agent?.id})`)
    expect(structuredContent).toMatchObject({ done: true, agent_id: agent?.id, name: agent?.name })
  })
})

describe('on a platform that fails', () => {
  const agents = ['a', 'b', 'c'].map((id) => ({ id, name: `Agent ${id}`, tags: ['t'] }))

  test('archives no agent as unused if its use cannot be read, and asks before it archives', async () => {
    await using platform = await startFakePlatform(
      ({ method, url }, res) => {
        if (url.includes('phone-numbers')) return json(res, 403, envelope('forbidden'))
        if (url.includes('/calls')) return json(res, 200, { count: 0, items: [] })
        if (method === 'DELETE') return json(res, 204, {})
        const one = agents.find(({ id }) => url.endsWith(`/agents/${id}`))
        return json(res, 200, one ?? { count: agents.length, items: agents })
      },
      { account: 'own' },
    )
    await using wired = await connectStdio('v2 2026-07-28', {
      env: {
        ...{ VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
        VOICE_AGENT_CONFIRM: 'never',
      },
    })
    const unused = await wired.call('archive_agent', { with_tag: 't', unused_only: true })
    expect(errorOf(unused).kind).toBe('all_failed')
    expect(unused.content[0]?.text).toMatch(/\(numbers: .*403/)
    expect(platform.seen.some(({ method }) => method === 'DELETE')).toBe(false)
    expect((await wired.call('archive_agent', { with_tag: 't' })).isError).toBeFalsy()
    await using asking = await connectStdio('v2 2026-07-28', {
      env: {
        ...{ VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
        VOICE_AGENT_CONFIRM: 'auto',
      },
    })
    const preview = await asking.call('archive_agent', { with_tag: 't' })
    expect(factsOf(preview)?.['Not known']).toMatch(/^numbers: .*403/)
  })

  test('reports which agents were archived and which were not', async () => {
    await using platform = await startFakePlatform(
      ({ method, url }, res) => {
        if (method === 'DELETE')
          return url.endsWith('/b')
            ? json(res, 500, envelope('internal_error'))
            : json(res, 204, {})
        const one = agents.find(({ id }) => url.endsWith(`/agents/${id}`))
        return json(res, 200, one ?? { count: agents.length, items: agents })
      },
      { account: 'own' },
    )
    await using wired = await connectStdio('v2 2026-07-28', {
      env: {
        ...{ VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
        VOICE_AGENT_CONFIRM: 'never',
      },
    })
    expect(await wired.value('archive_agent', { with_tag: 't' })).toMatchObject({
      summary: { unknown: 1, archived: 2 },
      agents: [
        { name: 'Agent a', outcome: 'archived' },
        { name: 'Agent b', outcome: 'unknown', problem: expect.stringContaining('500') },
        { name: 'Agent c', outcome: 'archived' },
      ],
    })
  })
})
