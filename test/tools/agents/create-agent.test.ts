import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

/**
 * The error says that no field takes instructions, where to enter them, and what initial_message is
 * for.
 */
const explanation =
  /no field for .*instructions.*enter them at the platform.*initial_message is only/s

test.each(['system_prompt', 'systemPrompt', 'prompt', 'instructions'])(
  '%s is refused wherever an agent is written, with where instructions are entered',
  async (name) => {
    const { id: agent_id } = await client.value('create_agent', newAgent)
    const field = { [name]: 'You are friendly.' }
    const refused = await Promise.all([
      client.call('create_agent', { ...newAgent, ...field }),
      client.call('update_agent', { agent_id, ...field }),
      client.call('copy_agent', { agent_id, name: 'Copy', changes: field }),
    ])
    for (const { isError, content } of refused) {
      expect(isError).toBe(true)
      expect(content[0]?.text).toMatch(explanation)
      expect(content[0]?.text).toContain(name)
    }
  },
)

test.each(['system_prompt', 'systemPrompt', 'prompt', 'instructions'])(
  'model.%s is saved with a warning wherever an agent is written, once while it is new',
  async (name) => {
    const model = { [name]: 'You are friendly.' }
    const warned = { warnings: [expect.stringMatching(`^model\\.${name}: .*may ignore`)] }
    const created = await client.call('create_agent', {
      ...newAgent,
      model: { ...newAgent.model, ...model },
    })
    expect(created.structuredContent).toMatchObject(warned)
    expect(created.content[0]?.text).toMatch(explanation)
    const { id: agent_id } = await client.value('create_agent', newAgent)
    const update = { agent_id, model }
    expect(await client.value('update_agent', { ...update, dry_run: true })).toMatchObject(warned)
    expect(await client.value('update_agent', update)).toMatchObject(warned)
    const again = await client.value('update_agent', { agent_id, model: { temperature: 0.5 } })
    expect(again.warnings).toEqual([])
    const changes = { model: { [name]: 'You are brief.' } }
    const copy = { agent_id, name: 'Copy', changes }
    expect(await client.value('copy_agent', copy)).toMatchObject(warned)
  },
)

test('a new agent comes with the same explanation, in its text', async () => {
  const { content } = await client.call('create_agent', newAgent)
  expect(content[0]?.text).toMatch(explanation)
})

test('the README says where instructions are entered', () => {
  expect(readFileSync('README.md', 'utf8')).toMatch(
    /no field for .*instructions.*initial_message.*at the platform/s,
  )
})
