import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient, ToolResult } from '../harness/client.ts'
import {
  bin,
  cleanEnv,
  type Program,
  quietly,
  scratchFolder,
  startHttpProgram,
  startProgram,
} from '../harness/program.ts'
import { seedIds } from '../harness/sandbox.ts'

const from_number = '+12025550110'
const place = {
  type: 'phone',
  agent_id: seedIds.supportAgent,
  from_number,
  to_number: '+12025550100',
}

let http: Program & { url: string }
beforeAll(async () => {
  http = await startHttpProgram({ VOICE_AGENT_CONFIRM: 'auto', VOICE_AGENT_SANDBOX_SPEED: '50' })
})
afterAll(() => http[Symbol.asyncDispose]())

type Answer = 'accept' | 'decline' | 'cancel' | 'untick'

/** A client of either era whose person answers as told; without an answer it cannot ask. */
async function person(era: 'modern' | 'legacy', over: 'stdio' | 'http', answer?: Answer) {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
      capabilities: answer ? { elicitation: { form: {} } } : {},
    },
  )
  const asked: string[] = []
  if (answer) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      if (answer === 'untick') return { action: 'accept', content: { confirm: false } }
      return answer === 'accept'
        ? { action: 'accept', content: { confirm: true } }
        : { action: answer }
    })
  }
  await client.connect(
    over === 'http'
      ? new StreamableHTTPClientTransport(new URL(http.url))
      : new StdioClientTransport({
          command: process.execPath,
          args: [bin],
          env: cleanEnv({
            ...quietly,
            VOICE_AGENT_CONFIRM: 'auto',
            VOICE_AGENT_SANDBOX_DB: ':memory:',
          }),
          stderr: 'ignore',
        }),
  )
  let calls = 0
  const call = async (name: string, args: Record<string, unknown> = {}) =>
    ToolResult.parse(await client.callTool({ name, arguments: args }))
  return {
    asked,
    client,
    call,
    /** Places a call that is like no other. */
    place: (more: object = {}) =>
      call('place_call', { ...place, external_id: `${era}-${over}-${answer}-${calls++}`, ...more }),
    total: async () => (await call('list_calls', { limit: 1 })).structuredContent?.total,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

const tokenOf = ({ structuredContent }: ToolResult) =>
  (structuredContent?.confirmation as { confirm_token?: string } | undefined)?.confirm_token

const canAsk = [
  ['modern', 'stdio'],
  ['modern', 'http'],
  ['legacy', 'stdio'],
] as const

describe.each(canAsk)('a person behind a %s client over %s', (era, over) => {
  test('is asked once, with the facts that matter, and is obeyed', async () => {
    await using agreeing = await person(era, over, 'accept')
    const placed = await agreeing.place()
    expect(placed.structuredContent).toMatchObject({ id: expect.any(String), repeated: false })
    expect(agreeing.asked).toHaveLength(1)
    for (const fact of [place.to_number, from_number, 'Support line', 'Account', 'SANDBOX'])
      expect(agreeing.asked[0]).toContain(fact)
  })

  test.each(['decline', 'cancel', 'untick'] as const)(
    'may %s, and nothing is dialled',
    async (answer) => {
      await using declining = await person(era, over, answer)
      const before = await declining.total()
      const result = await declining.place()
      expect(result.isError).toBeFalsy()
      expect(result.content[0]?.text).toMatch(/^Declined: .* Nothing was done/)
      expect(result.structuredContent).toMatchObject({ confirmation: { state: 'declined' } })
      expect(declining.asked).toHaveLength(1)
      expect(await declining.total()).toBe(before)
    },
  )
})

describe.each([
  ['modern', 'stdio'],
  ['modern', 'http'],
  ['legacy', 'stdio'],
  ['legacy', 'http'],
] as const)('a %s client over %s that cannot ask', (era, over) => {
  test('gets a preview first, and a token for the second step', async () => {
    await using client = await person(era, over)
    const before = Number(await client.total())
    const args = { ...place, external_id: `two-steps-${era}-${over}` }
    const preview = await client.call('place_call', args)
    expect(preview.content[0]?.text).toMatch(/^Nothing was done yet/)
    expect(await client.total()).toBe(before)
    const confirm_token = tokenOf(preview)
    const placed = await client.call('place_call', { ...args, confirm_token })
    expect(placed.structuredContent).toMatchObject({ repeated: false })
    // What was placed before needs no agreement: nothing is dialled.
    const again = await client.call('place_call', { ...args, confirm_token })
    expect(again.structuredContent).toMatchObject({ repeated: true })
    expect(await client.total()).toBe(before + 1)
  })
})

describe('a token', () => {
  const refused = async (use: (client: TestClient, token: string) => Promise<ToolResult>) => {
    await using client = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_CONFIRM: 'auto' },
    })
    const token = tokenOf(await client.call('place_call', place))
    const result = await use(client, String(token))
    expect(result.content[0]?.text).toMatch(/^The token was not good/)
    expect(
      (await client.value('list_calls', { agent_id: place.agent_id, status: 'in_progress' })).total,
    ).toBe(0)
  }

  test('is not good for other arguments', () =>
    refused((client, confirm_token) =>
      client.call('place_call', { ...place, to_number: '+12025550101', confirm_token }),
    ))

  test('is not good for another tool', () =>
    refused((client, confirm_token) =>
      client.call('place_calls', {
        agent_id: place.agent_id,
        from_number,
        calls: [{ to_number: place.to_number }],
        confirm_token,
      }),
    ))

  test('cannot be made up', () =>
    refused((client) => client.call('place_call', { ...place, confirm_token: 'v1.e30.AAAA' })))

  test('is not good for another key', async () => {
    const call = async (key: string, args: object) => {
      const client = new Client({ name: 'test', version: '1' })
      await client.connect(
        new StreamableHTTPClientTransport(new URL(http.url), {
          requestInit: { headers: { 'X-API-Key': key } },
        }),
      )
      const result = await client.callTool({ name: 'delete_sip_trunk', arguments: { ...args } })
      await client.close()
      return ToolResult.parse(result)
    }
    const [sip_trunk_id, account_id] = [seedIds.inboundTrunk, seedIds.account]
    const preview = await call('sandbox-key', { sip_trunk_id, account_id })
    const confirm_token = tokenOf(preview)
    const stolen = await call('sandbox-subaccount-key', { sip_trunk_id, account_id, confirm_token })
    expect(stolen.isError || /not good/.test(stolen.content[0]?.text ?? '')).toBe(true)
  })
})

describe('what is confirmed', () => {
  const modeOf = (mode: string) =>
    connectStdio('v2 2026-07-28', { env: { VOICE_AGENT_CONFIRM: mode } })
  const archive = { agent_id: 'Terminservice' }

  test('in auto, by clients that cannot ask, is calls and deletes only', async () => {
    await using client = await modeOf('auto')
    const { items } = await client.value('list_subaccounts')
    const subaccount_id = (items as { id: string }[])[0]?.id
    expect(await client.value('archive_agent', archive)).toMatchObject({ done: true })
    expect(
      await client.value('update_subaccount', { subaccount_id, is_active: false }),
    ).toMatchObject({ is_active: false })
    const number = { phone_number_id: seedIds.mainNumber }
    expect(tokenOf(await client.call('delete_phone_number', number))).toBeDefined()
    expect(
      tokenOf(await client.call('delete_sip_trunk', { sip_trunk_id: seedIds.inboundTrunk })),
    ).toBeDefined()
  })

  test('in always is everything that cannot be undone, and nothing else', async () => {
    await using client = await modeOf('always')
    const preview = await client.call('archive_agent', archive)
    const confirm_token = tokenOf(preview)
    expect(preview.content[0]?.text).toContain('Terminservice')
    expect(await client.value('archive_agent', { ...archive, confirm_token })).toMatchObject({
      done: true,
    })
    await client.value('update_agent', { agent_id: seedIds.supportAgent, note: 'x' })
    const twice = await client.call('archive_agent', { ...archive, confirm_token })
    expect(twice.content[0]?.text).toMatch(/^The token was not good/)
  })

  test('in never is nothing', async () => {
    await using client = await modeOf('never')
    expect(await client.value('place_call', place)).toMatchObject({ repeated: false })
  })

  test('has previews and refusals that the output schema allows', async () => {
    await using client = await modeOf('always')
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    for (const [name, args] of [
      ['place_call', place],
      [
        'place_calls',
        { agent_id: place.agent_id, from_number, calls: [{ to_number: place.to_number }] },
      ],
      ['archive_agent', archive],
      ['delete_sip_trunk', { sip_trunk_id: seedIds.inboundTrunk }],
    ] as const) {
      const tool = (await client.listTools()).find((one) => one.name === name)
      const validate = ajv.compile(tool?.outputSchema as object)
      const { structuredContent } = await client.call(name, args)
      expect(validate(structuredContent), `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true)
    }
  })
})

describe('a call that is waited for', () => {
  test('is told as it goes on, and given back when it has ended', async () => {
    await using client = await person('modern', 'stdio', 'accept')
    const placed = await client.place({ to_number: '+12025550106' })
    const told: string[] = []
    const result = ToolResult.parse(
      await client.client.callTool(
        {
          name: 'wait_for_call',
          arguments: { call_id: placed.structuredContent?.id, timeout_seconds: 6 },
        },
        { onprogress: ({ message }) => void told.push(String(message)) },
      ),
    )
    expect(told.length).toBeGreaterThan(0)
    expect(told.join('\n')).toMatch(/ringing|answer human/)
    expect(result.structuredContent).toMatchObject({ ended: expect.any(Boolean) })
    expect(result.content[0]?.text).toMatch(/Wait on with wait_for_call|has ended/)
  })

  test('is left alone at once when the request is cancelled', async () => {
    await using client = await person('modern', 'stdio', 'accept')
    const placed = await client.place({ to_number: '+12025550106' })
    const call_id = placed.structuredContent?.id
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 300)
    const started = Date.now()
    await expect(
      client.client.callTool(
        { name: 'wait_for_call', arguments: { call_id } },
        { signal: controller.signal },
      ),
    ).rejects.toThrow()
    expect(Date.now() - started).toBeLessThan(2000)
    const { structuredContent } = await client.call('get_call', { call_id })
    expect(structuredContent?.status).toBe('in_progress')
  })

  test('is followed in the request that places it, where that is asked', async () => {
    await using client = await person('modern', 'http', 'accept')
    const result = await client.place({ follow: true })
    expect(result.structuredContent).toMatchObject({ ended: true, status: 'completed' })
    expect(result.content[0]?.text).toContain('<untrusted-speech ')
  })
})

describe('a client that takes tasks', () => {
  let id = 0
  const rpc = async (
    method: string,
    params: Record<string, unknown>,
    { tasks = true, key = 'sandbox-key' } = {},
  ) => {
    const extensions = tasks ? { 'io.modelcontextprotocol/tasks': {} } : {}
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      // No elicitation: the two steps of confirming would be in the way here.
      'io.modelcontextprotocol/clientCapabilities': { extensions },
    }
    const response = await fetch(http.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        'mcp-name': String(params.name ?? params.taskId),
        'x-api-key': key,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params: { ...params, _meta } }),
    })
    const text = await response.text()
    const json = text.startsWith('{') ? text : text.slice(text.lastIndexOf('data:') + 5)
    return JSON.parse(json) as { result: Record<string, unknown>; error: Record<string, unknown> }
  }

  const follow = async (to_number: string) => {
    const args = { ...place, to_number, follow: true, external_id: `task-${id}` }
    const { result } = await rpc('tools/call', { name: 'place_call', arguments: args })
    const confirm_token = tokenOf(ToolResult.parse(result))
    const placed = await rpc('tools/call', {
      name: 'place_call',
      arguments: { ...args, confirm_token },
    })
    expect(placed.result).toMatchObject({ resultType: 'task', status: 'working' })
    return String(placed.result.taskId)
  }

  test('polls a call to its end, and finds it as any other client would', async () => {
    const taskId = await follow('+12025550101')
    await expect
      .poll(async () => (await rpc('tasks/get', { taskId })).result.status, { timeout: 8000 })
      .toBe('completed')
    const { result } = await rpc('tasks/get', { taskId })
    expect(ToolResult.parse(result.result).structuredContent).toMatchObject({
      ended: true,
      answer_status: 'user_busy',
    })
    await rpc('tasks/cancel', { taskId })
    expect((await rpc('tasks/get', { taskId })).result.status).toBe('completed')
  })

  test('may cancel the following, which stops no call', async () => {
    const taskId = await follow('+12025550106')
    expect((await rpc('tasks/cancel', { taskId })).error).toBeUndefined()
    expect((await rpc('tasks/get', { taskId })).result).toMatchObject({
      status: 'cancelled',
      statusMessage: expect.stringContaining('call itself was not stopped'),
    })
  })

  test('alone may ask for tasks, with its own key, and for none that is made up', async () => {
    const taskId = await follow('+12025550101')
    expect((await rpc('tasks/get', { taskId }, { tasks: false })).error).toMatchObject({
      code: -32021,
    })
    expect((await rpc('tasks/get', { taskId }, { key: 'sandbox-other-key' })).error).toMatchObject({
      code: -32602,
    })
    expect((await rpc('tasks/get', { taskId: 'made-up' })).error).toMatchObject({ code: -32602 })
  })
})

describe('a dial policy', () => {
  const policy = (rules: object, more: Record<string, string> = {}) =>
    connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_DIAL_POLICY: JSON.stringify(rules), ...more },
    })

  test('refuses what it does not allow, names the rule and who can change it', async () => {
    await using client = await policy({ allow_countries: ['US'] })
    const result = await client.call('place_call', { ...place, to_number: '+493012345678' })
    expect(result.isError).toBe(true)
    expect(result.content[0]?.text).toMatch(/not allowed \(allow_countries\).*Nothing was dialled/)
    expect(result.content[0]?.text).toMatch(/operator of this server can change allow_countries/)
    expect(await client.value('place_call', place)).toMatchObject({ repeated: false })
  })

  test.each(['+1911', '+112', '+4990012345'])('of no kind allows %s', async (to_number) => {
    await using client = await connectStdio('v2 2026-07-28')
    const result = await client.call('place_call', { ...place, to_number })
    expect(result.isError).toBe(true)
    expect(result.content[0]?.text).toMatch(/Nothing was dialled/)
  })

  test('counts across restarts', async () => {
    using folder = scratchFolder()
    const more = { VOICE_AGENT_STATE_DIR: folder.path }
    for (const to_number of ['+12025550101', '+12025550102']) {
      await using client = await policy({ max_per_hour: 2 }, more)
      await client.value('place_call', { ...place, to_number })
    }
    await using client = await policy({ max_per_hour: 2 }, more)
    const result = await client.call('place_call', { ...place, to_number: '+12025550103' })
    expect(result.content[0]?.text).toMatch(/max_per_hour.*2 calls an hour/)
  })

  test('of one call at a time lets the next begin when it has ended', async () => {
    await using client = await policy({ max_at_once: 1 }, { VOICE_AGENT_SANDBOX_SPEED: '100' })
    const { id } = await client.value('place_call', { ...place, to_number: '+12025550104' })
    const second = { ...place, to_number: '+12025550101' }
    expect((await client.call('place_call', second)).content[0]?.text).toMatch(/max_at_once/)
    await client.value('wait_for_call', { call_id: id })
    await expect
      .poll(async () => (await client.call('place_call', second)).isError ?? false, {
        timeout: 5000,
      })
      .toBe(false)
  })

  test('that is wrong is told before anything starts', async () => {
    await using program = startProgram([], {
      VOICE_AGENT_SANDBOX_DB: ':memory:',
      VOICE_AGENT_DIAL_POLICY: '{"allow_country":["US"]}',
    })
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(/allow_country\b.*allow_countries/)
  })
})

describe('many calls', () => {
  test('are each placed once, by their own leave, and summed up', async () => {
    await using client = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_DIAL_POLICY: '{"deny_countries":["DE"]}' },
    })
    const numbers = [
      '+12025550100',
      '+12025550101',
      '+12025550101',
      '+493012345678',
      '+12025550107',
    ]
    const list = {
      agent_id: 'Support line',
      from_number,
      calls: numbers.map((to_number) => ({ to_number })),
    }
    const first = await client.value('place_calls', list)
    expect(first.summary).toEqual({ placed: 2, repeated: 1, not_allowed: 1, failed: 1 })
    expect((first.calls as { outcome: string }[]).map(({ outcome }) => outcome)).toEqual([
      'placed',
      'placed',
      'repeated',
      'not_allowed',
      'failed',
    ])
    const again = await client.value('place_calls', list)
    expect(again.summary).toEqual({ repeated: 3, not_allowed: 1, failed: 1 })
  })

  test('that are cancelled go on where they stopped, when they are asked for again', async () => {
    await using client = await person('modern', 'stdio', 'accept')
    const calls = Array.from({ length: 20 }, (_, at) => ({ to_number: `+120255501${10 + at}` }))
    const list = { agent_id: place.agent_id, from_number, calls }
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 1500)
    await expect(
      client.client.callTool(
        { name: 'place_calls', arguments: list },
        { signal: controller.signal },
      ),
    ).rejects.toThrow()
    const dialled = Number(
      (
        await client.call('list_calls', {
          agent_id: place.agent_id,
          created_after: new Date(Date.now() - 60_000).toISOString(),
        })
      ).structuredContent?.total,
    )
    expect(dialled).toBeGreaterThan(0)
    expect(dialled).toBeLessThan(20)
    const { summary } = (await client.call('place_calls', list)).structuredContent ?? {}
    expect(summary).toEqual({ placed: 20 - dialled, repeated: dialled })
  }, 30_000)
})

describe('readiness', () => {
  test('tells each thing that is wrong and how to mend it, and what is fine', async () => {
    await using client = await connectStdio('v2 2026-07-28')
    const ready = { agent_id: 'Support line', from_number, to_number: '+12025550100' }
    expect(await client.value('check_call_readiness', ready)).toMatchObject({ ready: true })
    const said = async (more: object) =>
      (await client.call('check_call_readiness', { ...ready, ...more })).content[0]?.text
    expect(await said({ agent_id: 'Suport line' })).toMatch(
      /WRONG agent: .*did you mean Support line/,
    )
    expect(await said({ from_number: '+12025550199' })).toMatch(
      /WRONG from_number: .*no number of this account → call from one of your own: /,
    )
    expect(await said({ from_number: '+12025550112' })).toMatch(
      /WRONG trunk: .*no termination URI → set termination_uri with update_sip_trunk/,
    )
    expect(await said({ to_number: '0030 1234' })).toMatch(
      /WRONG to_number format: .*write it with \+/,
    )
    expect(await said({ to_number: '+112' })).toMatch(/WRONG destination: .*emergency/)
    const { id } = await client.value('update_agent', {
      agent_id: 'Terminservice',
      initial_message: { message: 'Hallo {{ customer.name }}' },
    })
    expect(id).toBeUndefined()
    const greeting = { agent_id: 'Terminservice' }
    expect(await said(greeting)).toMatch(/WRONG greeting: nothing fills customer\.name/)
    const test_variables = { customer: { name: 'Erika' } }
    expect(await said({ ...greeting, test_variables })).toMatch(/ok greeting/)
    await client.value('archive_agent', greeting)
    expect(await said(greeting)).toMatch(/WRONG agent: .*is archived/)
  })
})
