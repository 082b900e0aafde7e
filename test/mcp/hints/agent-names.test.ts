import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../../harness/client.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { newAgent } from '../../harness/story.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

let made = 0
const makeAgent = async (more: object = {}) =>
  client.value('create_agent', { ...newAgent, name: `Agent ${made++}`, ...more })

describe("an agent's exact name", () => {
  test('is accepted wherever its id is', async () => {
    const { id, name } = await makeAgent()
    expect(await client.value('get_agent', { agent_id: name })).toMatchObject({ id })
    expect(await client.value('update_agent', { agent_id: name, note: 'x' })).toMatchObject({
      agent_id: id,
    })
    const { items } = await client.value('list_phone_numbers')
    const [number] = items as { id: string; inbound_agent: unknown }[]
    const phone_number_id = number?.id
    await client.value('update_phone_number', { phone_number_id, inbound_agent_id: name })
    expect(await client.value('get_phone_number', { phone_number_id })).toMatchObject({
      inbound_agent: { id },
    })
    expect(await client.value('list_calls', { agent_id: name })).toMatchObject({ total: 0 })
    await client.value('archive_agent', { agent_id: name })
    expect(await client.value('get_agent', { agent_id: id })).toMatchObject({ is_archived: true })
  })

  test('is refused if two agents have it', async () => {
    const name = 'Twin'
    const ids = [await makeAgent({ name }), await makeAgent({ name })].map(({ id }) => String(id))
    const result = await client.call('get_agent', { agent_id: name })
    expect(result.isError).toBe(true)
    for (const id of ids) expect(result.content[0]?.text).toContain(id)
  })

  test('is refused if the second agent with it comes after hundreds of others', async () => {
    const name = 'Bot'
    const older = await makeAgent({ name })
    for (let at = 0; at < 101; at++) await makeAgent({ name: `Bot ${at}` })
    const newer = await makeAgent({ name })
    const result = await client.call('archive_agent', { agent_id: name })
    expect(result.isError).toBe(true)
    for (const { id } of [older, newer]) expect(result.content[0]?.text).toContain(id)
  })

  test('is refused if not all agents could be read, or the platform repeats a page', async () => {
    const agent = (id: number) => ({ id: `agent-${id}`, name: 'Bot' })
    let page = 0
    await using platform = await startFakePlatform(
      (_, res) => json(res, 200, { count: 1e6, items: [{ ...agent(page), name: `x${page++}` }] }),
      { account: 'own' },
    )
    await using wired = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url },
    })
    const endless = await wired.call('get_agent', { agent_id: 'Bot' })
    expect(endless.isError).toBe(true)
    expect(endless.content[0]?.text).toMatch(/not certain which one is meant; give the id/)
    platform.behave(({ url }, res) =>
      json(res, 200, url.includes('/agents/') ? agent(1) : { items: [agent(1)] }),
    )
    expect(await wired.value('get_agent', { agent_id: 'Bot' })).toMatchObject({ id: 'agent-1' })
  })
})
