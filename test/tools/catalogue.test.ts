import { afterAll, beforeAll, expect, test } from 'vitest'
import { allRoutes } from '../../src/contract/routes.ts'
import { tools } from '../../tools/index.ts'
import { connectStdio, type TestClient } from '../harness/client.ts'

let client: TestClient
let listed: Record<string, unknown>[]
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
  listed = await client.listTools()
})
afterAll(() => client[Symbol.asyncDispose]())

/** Documented operations of the API, each with its tool. */
const operations = `
get_current_account GET /v1/accounts/current
list_subaccounts GET {a}/subaccounts
create_subaccount POST {a}/subaccounts
get_subaccount GET {a}/subaccounts/{subaccount_id}
update_subaccount PATCH {a}/subaccounts/{subaccount_id}
create_agent POST {a}/agents
list_agents GET {a}/agents
get_agent GET {a}/agents/{agent_id}
update_agent PATCH {a}/agents/{agent_id}
archive_agent DELETE {a}/agents/{agent_id}
validate_agent_template POST {a}/agents/validate-template
list_models GET {a}/providers/models
list_transcribers GET {a}/providers/transcribers
list_voices GET {a}/providers/voices
create_phone_number POST {a}/phone-numbers
list_phone_numbers GET {a}/phone-numbers
get_phone_number GET {a}/phone-numbers/{phone_number_id}
update_phone_number PATCH {a}/phone-numbers/{phone_number_id}
delete_phone_number DELETE {a}/phone-numbers/{phone_number_id}
create_sip_trunk POST {a}/sip-trunks
list_sip_trunks GET {a}/sip-trunks
get_sip_trunk GET {a}/sip-trunks/{sip_trunk_id}
update_sip_trunk PATCH {a}/sip-trunks/{sip_trunk_id}
delete_sip_trunk DELETE {a}/sip-trunks/{sip_trunk_id}
get_usage GET {a}/analytics/usage
list_conversations GET {a}/conversations
place_call POST {a}/calls
list_calls GET {a}/calls
get_call GET {a}/calls/{call_id}`
  .trim()
  .replaceAll('{a}', '/v1/accounts/{account_id}')
  .split('\n')

test('there is one tool for each of the 29 documented operations', () => {
  const made = tools.map(({ name, route }) => `${name} ${route.method} ${route.path}`)
  expect(made).toEqual(expect.arrayContaining(operations))
  expect(operations).toHaveLength(29)
  // Tools without an operation of their own: they combine several or use a part of one.
  const names = new Set(operations.map((operation) => operation.split(' ', 1)[0]))
  expect(tools.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([
    'copy_agent',
    'check_call_readiness',
    'place_calls',
    'wait_for_call',
    'get_conversation',
  ])
})

test('tools and contract have the same routes', () => {
  expect(new Set(tools.map(({ route }) => route))).toEqual(new Set(allRoutes))
})

test.each(tools.map(({ name }) => name))('%s is listed as its snapshot shows', async (name) => {
  const tool = listed.find((candidate) => candidate.name === name)
  const text = `${JSON.stringify(tool, null, 2)}\n`
  await expect(text).toMatchFileSnapshot(`snapshots/${name}.json`)
})

test('the bundle lists what the source derives', () => {
  expect(listed).toEqual(tools.map((tool) => tool.listed('any')))
})

test('schemas contain nothing that known clients reject', () => {
  for (const { name, inputSchema, outputSchema } of listed) {
    for (const [kind, schema] of Object.entries({ inputSchema, outputSchema })) {
      const where = `${name} ${kind}`
      expect(schema, where).toMatchObject({ type: 'object' })
      for (const word of ['anyOf', 'oneOf', 'allOf']) expect(schema, where).not.toHaveProperty(word)
      expect(JSON.stringify(schema), where).not.toMatch(/"\$(ref|defs|schema)"|9007199254740991/)
    }
    expect(inputSchema, String(name)).toHaveProperty('additionalProperties', false)
    expect(String(name)).toMatch(/^[a-z_]{1,64}$/)
  }
})

test('every argument has a description, here or in create_agent, or a self-explanatory name', () => {
  const undescribed: string[] = []
  // Described in the server's instructions.
  const everywhere = ['account_id', 'fields', 'limit', 'offset']
  const named = [
    /\.([a-z_]+_id|id)$/,
    /^(place_call|place_calls\.calls|check_call_readiness)\.to_number$/,
    /^get_(call|conversation)\.(from|to)_turn$/,
    /^list_voices\.gender$/,
    /^update_sip_trunk\.(termination_uri|allowed_ips)$/,
    /^(create|update)_(agent|subaccount|phone_number|sip_trunk)\.name$/,
    /\.(created|modified|updated)_(gt|ge|lt|le|after|before)$/,
    /\.direction$/,
    /^create_agent\.(ambient_sound|volume|denoising)$/,
    /^list_\w+\.(type|status|direction)$/,
    // Described in the tool's description.
    /^list_calls\.(review|evidence|tz)$/,
    // Described in the server's instructions.
    /\.include_subaccounts$/,
    // Named like the filters of lists, which are described.
    /\.where\.(tags|any_tag|unused_since|unanswered)$/,
    /\.dry_run$/,
    /^update_sip_trunk\.(add|remove)(\.allowed_ips)?$/,
  ]
  // Settings of an agent whose names and bounds are self-explanatory.
  const plain =
    /^create_agent\.(voice\.settings|[a-z_]+(?<!model|transcriber|voice|initial_message))\./
  const visit = (schema: unknown, path: string) => {
    const { properties } = schema as { properties?: Record<string, Record<string, unknown>> }
    for (const [name, field] of Object.entries(properties ?? {})) {
      const here = `${path}.${name}`
      const isNamed = everywhere.includes(name) || named.some((names) => names.test(here))
      const isKnown = isNamed || typeof field.description === 'string'
      if (!isKnown && !plain.test(here)) undescribed.push(here)
      visit(field, `${path}.${name}`)
    }
  }
  for (const { name, inputSchema } of listed) visit(inputSchema, String(name))
  const create = listed.find(({ name }) => name === 'create_agent')
  const { properties = {} } = Object(create?.inputSchema)
  const elsewhere = undescribed.filter((path) => {
    const [tool, argument = ''] = path.split('.')
    return tool === 'update_agent' && argument in properties
  })
  expect(undescribed).toEqual(elsewhere)
})

test('filters that are not listed, because they nearly duplicate others, are accepted', async () => {
  const list = listed.find(({ name }) => name === 'list_agents')
  expect(list).toHaveProperty('inputSchema.properties.created_ge')
  expect(list).not.toHaveProperty('inputSchema.properties.created_gt')
  const later = await client.value('list_agents', { created_gt: '2100-01-01T00:00:00Z' })
  expect(later).toMatchObject({ total: 0 })
})

test('annotations say what each operation does', () => {
  const hints = (name: string) => {
    const { annotations } = listed.find((tool) => tool.name === name) as { annotations: object }
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations as Record<
      string,
      boolean
    >
    return [readOnlyHint, destructiveHint, idempotentHint, openWorldHint]
      .map((hint) => (hint ? 'y' : 'n'))
      .join('')
  }
  // Read-only, destructive, idempotent, open world.
  expect(hints('list_agents')).toBe('ynyn')
  expect(hints('validate_agent_template')).toBe('ynyn')
  expect(hints('list_voices')).toBe('ynyy')
  expect(hints('create_agent')).toBe('nnnn')
  expect(hints('update_agent')).toBe('nyyn')
  expect(hints('archive_agent')).toBe('nyyn')
  expect(hints('delete_phone_number')).toBe('nyyn')
  expect(hints('place_call')).toBe('nyny')
})

test('a title is a name of two to four words, and no other tool has it', () => {
  const titles = listed.map(({ title }) => String(title))
  expect(titles.filter((title) => !/^[A-Z][a-z]+( [A-Za-z]+){1,3}$/.test(title))).toEqual([])
  expect(new Set(titles).size).toBe(titles.length)
})

test('a description is at most three sentences', () => {
  for (const { name, description } of listed) {
    const sentences = String(description).match(/[.!?](\s|$)/g) ?? []
    expect(sentences.length, String(name)).toBeLessThanOrEqual(3)
  }
})

test('an unknown tool is a protocol error that names the closest one', async () => {
  await expect(client.call('list_agent')).rejects.toThrow(/\blist_agents\b/)
})
