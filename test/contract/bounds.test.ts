import { describe, expect, test } from 'vitest'
import { openSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sandboxKeys, seedIds } from '../../src/sandbox/seed.ts'
import { type ParsedArguments, parseArguments } from '../../src/tool/arguments.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { tools } from '../../tools/index.ts'
import { newAgent } from '../harness/every-tool.ts'

const text = (length: number) => 'x'.repeat(length)

/** Documented bounds of the API: values just inside and just outside. */
type Bound = [tool: string, argument: string, inside: unknown[], outside: unknown[]]
const bounds: Bound[] = [
  ['create_agent', 'name', ['', text(50), null], [text(51), 5]],
  ['create_agent', 'note', ['', text(5000), null], [text(5001)]],
  ['create_agent', 'tags', [[], ['a']], ['a', [1]]],
  ['create_agent', 'metadata', [{}, { a: { b: [null] } }], [[], 'x']],
  ['create_agent', 'allow_auto_hangup', [true, false, null], ['yes']],
  ['create_agent', 'allow_caller_recording_opt_out', [true, false], [1]],
  ['create_agent', 'max_duration_seconds', [10, 43200, null], [9, 43201, 10.5]],
  ['create_agent', 'initial_message.message', ['', 'Hi {{ x }}', null], [1]],
  [
    'create_agent',
    'initial_message.mode',
    ['fixed_message', 'user_first', 'dynamic_message', null],
    ['x'],
  ],
  ['create_agent', 'initial_message.delay_ms', [0, 5000], [-1, 5001, 0.5]],
  ['create_agent', 'initial_message.interruptible', [true, false, null], [1]],
  [
    'create_agent',
    'ambient_sound.source',
    [
      'open_plan_office',
      'customer_service_center',
      'internet_cafe',
      'urban_street',
      'rural_outdoors',
      'ac_fan',
      null,
    ],
    ['disco'],
  ],
  ['create_agent', 'ambient_sound.volume', [0, 1], [-0.01, 1.01]],
  ['create_agent', 'inactivity_settings.reminder_timeout_ms', [5000, 300000, null], [4999, 300001]],
  ['create_agent', 'inactivity_settings.reminder_max_count', [0, 99, null], [-1, 0.5]],
  [
    'create_agent',
    'inactivity_settings.end_call_timeout_ms',
    [10000, 600000, null],
    [9999, 600001],
  ],
  ['create_agent', 'inactivity_settings.reset_on_activity', [true, false, null], ['yes']],
  ['create_agent', 'response_timing.min_endpointing_delay_seconds', [0, 0.1, 9], [-0.1]],
  ['create_agent', 'interrupt_settings.enabled', [true, false], [0]],
  ['create_agent', 'interrupt_settings.min_words', [0, 5], [-1, 1.5]],
  ['create_agent', 'interrupt_settings.min_speech_seconds', [0, 0.2], [-0.1]],
  ['create_agent', 'capture_settings.recording_enabled', [true, false], ['no']],
  ['create_agent', 'volume.web', [0, 1], [-0.1, 1.1]],
  ['create_agent', 'volume.telephony', [0, 1], [-0.1, 1.1]],
  ['create_agent', 'volume.allow_adjustment', [true, false, null], ['yes']],
  ['create_agent', 'denoising.web', [true, false, null], ['yes']],
  ['create_agent', 'denoising.telephony', [true, false, null], ['yes']],
  ['create_agent', 'model.provider', ['openai', 'of_tomorrow'], ['', undefined, 1]],
  ['create_agent', 'model.max_tokens', [1, 100000], [1.5, '1']],
  ['create_agent', 'model.temperature', [0, 2], ['hot']],
  ['create_agent', 'transcriber.languages', [[], ['de-de']], ['de-de']],
  ['create_agent', 'transcriber.language', ['de-de', null], [1]],
  ['create_agent', 'transcriber.keywords', [[], ['x'], null], ['x']],
  ['create_agent', 'voice.language', ['de-de'], [1]],
  [
    'create_agent',
    'voice.settings',
    [{}, { speed: 1.1, brand_new: 1 }, { speed: null }],
    [[], { speed: 'fast' }],
  ],
  [
    'create_agent',
    'model',
    [{ provider: 'x', model: 'x', unknown_field: 1 }],
    [undefined, null, {}],
  ],
  ['create_agent', 'transcriber', [{ provider: 'x' }], [undefined, null, {}]],
  ['create_agent', 'voice', [{ provider: 'x', voice_id: 'x' }], [undefined, null, {}]],
  ['update_agent', 'voice', [{ voice_id: 'x' }, { settings: { speed: 1 } }, {}], [null]],
  ['update_agent', 'model', [{ temperature: 0 }], [null, { provider: '' }]],
  ['update_agent', 'max_duration_seconds', [10, 43200], [9, 43201]],
  ['list_agents', 'limit', [1, 100000], [0, -1, 1.5]],
  ['list_agents', 'offset', [0, 100000], [-1, 1.5]],
  ['list_agents', 'tags', [['a'], []], ['a']],
  ['list_agents', 'is_archived', [true, false], ['true']],
  [
    'list_agents',
    'created_gt',
    ['2026-11-01T09:00:00Z', '2026-11-01T09:00:00+05:45'],
    ['2026-11-01', '2026-11-01T09:00:00', 'x'],
  ],
  ...['created', 'modified'].flatMap((column) =>
    ['gt', 'ge', 'lt', 'le'].map(
      (end): Bound => [
        'list_agents',
        `${column}_${end}`,
        ['2026-11-01T09:00:00Z', '2026-11-01T09:00:00.5-02:30'],
        ['2026-11-01', '2026-11-01T09:00:00', '2026-13-01T00:00:00Z'],
      ],
    ),
  ),
  ...[
    'list_subaccounts',
    'list_phone_numbers',
    'list_sip_trunks',
    'list_conversations',
    'list_calls',
  ].flatMap((name): Bound[] => [
    [name, 'limit', [1, 1000], [0, -1, 1.5]],
    [name, 'offset', [0, 1000], [-1, 1.5]],
  ]),
  ...['start', 'end'].map(
    (name): Bound => [
      'get_usage',
      name,
      [name === 'start' ? '2020-01-01T00:00:00Z' : '2099-01-01T00:00:00+14:00'],
      ['2026-11-01', 'now'],
    ],
  ),
  ...['created_after', 'created_before', 'updated_after', 'updated_before'].flatMap((name) =>
    ['list_calls', 'list_conversations'].map(
      (tool): Bound => [tool, name, ['2026-11-01T09:00:00Z'], ['2026-11-01T09:00:00']],
    ),
  ),
  ...['max_duration_seconds', 'initial_message.delay_ms', 'ambient_sound.volume', 'volume.web'].map(
    (name): Bound => [
      'update_agent',
      name,
      [10].map((ten) => (name.includes('volume') ? 1 : ten)),
      [-1, 99_999],
    ],
  ),
  ['update_agent', 'name', [text(50), null], [text(51)]],
  ['update_agent', 'note', [text(5000), null], [text(5001)]],
  ['update_agent', 'initial_message.message', [null, ''], [1]],
  ['update_agent', 'ambient_sound.source', [null, 'ac_fan'], ['disco']],
  ['create_subaccount', 'name', ['x'], [undefined, null, 1]],
  ['update_subaccount', 'is_active', [true, false, null], ['no']],
  ['validate_agent_template', 'template', ['', 'Hi'], [null, 1]],
  ['validate_agent_template', 'allowed_variables', [null, [], ['a.b']], ['a']],
  ['list_voices', 'provider', ['elevenlabs'], ['']],
  ['list_voices', 'gender', ['male', 'female', 'neutral'], ['other']],
  ['list_voices', 'limit', [1], [0]],
  ['list_voices', 'refresh', [true, false], ['yes']],
  [
    'create_phone_number',
    'number',
    ['+4930123456', '+12', '+123456789012345'],
    ['+1', '+0123456', '4930123', '+1234567890123456', '+49 30'],
  ],
  ['create_phone_number', 'name', ['', text(100)], [text(101)]],
  ['create_phone_number', 'sip_trunk_id', [seedIds.trunk], [undefined, null, '']],
  ['create_phone_number', 'inbound_agent_id', [seedIds.supportAgent, null], ['']],
  ['update_phone_number', 'sip_trunk_id', [seedIds.trunk, null], ['']],
  ['update_phone_number', 'inbound_agent_id', [seedIds.supportAgent, null], ['']],
  ['update_phone_number', 'name', ['', text(100)], [text(101)]],
  ['create_sip_trunk', 'name', ['', text(100)], [text(101)]],
  [
    'create_sip_trunk',
    'allowed_ips',
    [[], ['192.0.2.1', '10.0.0.0/0', '10.0.0.0/32', '2001:db8::1', '2001:db8::/128']],
    [
      ['10.0.0.0/33'],
      ['2001:db8::/129'],
      ['300.1.1.1'],
      ['host'],
      ['10.0.0.0/'],
      ['10.0.0.0/8/8'],
      '10.0.0.1',
    ],
  ],
  ['update_sip_trunk', 'termination_uri', ['sip.example.com', null], [1]],
  ['get_usage', 'granularity', ['hour', 'day', 'month'], ['week']],
  ['get_usage', 'group_by', [[], ['agent'], ['agent', 'subaccount', 'type']], [['phone'], 'agent']],
  ['get_usage', 'limit', [1, 500], [0, 501]],
  ['list_conversations', 'type', ['phone', 'web', 'test', 'unknown'], ['fax']],
  ['list_conversations', 'status', ['in_progress', 'completed', 'failed', 'transferred'], ['done']],
  ['list_conversations', 'direction', ['inbound', 'outbound', 'internal'], ['sideways']],
  ['list_calls', 'type', ['phone', 'web', 'test', 'unknown'], ['fax']],
  ['list_subaccounts', 'is_active', [true, false], ['true']],
  ['place_call', 'type', ['web'], ['fax', undefined]],
  ['place_call', 'to_number', ['+4930123456'], ['030 123']],
  // Any other text may be the name of a number.
  ['place_call', 'from_number', ['+4930123456'], ['', {}]],
  ['place_call', 'audio_input_enabled', [true, false], ['no']],
  ['place_call', 'test_variables', [{}, { a: 1 }], [[], 'x']],
]

/** Valid arguments of each tool on the seeded sandbox. */
const base: Record<string, Record<string, unknown>> = {
  create_agent: newAgent,
  update_agent: { agent_id: seedIds.supportAgent },
  create_subaccount: { name: 'x' },
  update_subaccount: { subaccount_id: seedIds.subaccount },
  list_voices: { provider: 'elevenlabs' },
  create_phone_number: { number: '+12025550190', sip_trunk_id: seedIds.trunk },
  update_phone_number: { phone_number_id: seedIds.spareNumber },
  update_sip_trunk: { sip_trunk_id: seedIds.trunk },
  place_call: { type: 'web', agent_id: seedIds.supportAgent },
}

function withValue(from: Record<string, unknown>, path: string, value: unknown) {
  const [first = '', ...rest] = path.split('.')
  const inner = { ...(from[first] as Record<string, unknown> | undefined) }
  const next: unknown = rest.length === 0 ? value : withValue(inner, rest.join('.'), value)
  return JSON.parse(JSON.stringify({ ...from, [first]: next }))
}

function toolNamed(name: string): Tool {
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool) throw new Error(`No tool ${name}`)
  return tool
}

/** Sends arguments to the sandbox unchecked, in the path, query and body of the tool's route. */
async function ask(sandbox: Sandbox, tool: Tool, args: Record<string, unknown>) {
  const { params, query, body } = tool.route
  const path = tool.route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(args[name] ?? (name === 'account_id' ? 'me' : ''))),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(args)) {
    if (!Object.hasOwn(query.shape, name) || Object.hasOwn(params.shape, name)) continue
    for (const item of Array.isArray(value) ? value : [value]) search.append(name, String(item))
  }
  const inBody = Object.entries(args).filter(([name]) => body && Object.hasOwn(body.shape, name))
  const response = await sandbox.fetch(
    new Request(`http://sandbox${path}?${search}`, {
      method: tool.route.method,
      headers: { 'x-api-key': sandboxKeys.main },
      ...(body && { body: JSON.stringify(Object.fromEntries(inBody)) }),
    }),
  )
  const reply = response.status === 204 ? null : await response.json()
  return { status: response.status, reply: reply as { errors?: { field: string }[] } }
}

/** Query values are text, so values of a wrong JSON type cannot be sent. */
const isTextOnly = (tool: Tool, argument: string, value: unknown) =>
  Object.hasOwn(tool.route.query.shape, argument) &&
  typeof value === 'string' &&
  argument !== 'limit'
    ? value === 'a' || value === 'true' || value === 'agent'
    : false

/**
 * In a tool's arguments null means 'not given', because some clients fill in every field. In the
 * API null is a value.
 */
function expectNotGiven(parsed: ParsedArguments): void {
  if (parsed.ok) expect(JSON.stringify(parsed.request.body)).not.toContain('null')
  else expect(parsed.problems[0]?.message).toMatch(/^(required|nothing to change)/)
}

/** Texts that a tool coerces to a number, a boolean or a list of one, and reports in `read_as`. */
const texts: readonly unknown[] = ['1', 'true', 'a', 'x', 'agent', 'de-de', '10.0.0.1']

function expectReading(
  parsed: Extract<ParsedArguments, { ok: true }>,
  argument: string,
  value: unknown,
): void {
  if (!texts.includes(value)) throw new Error('The tool took it')
  expect(parsed.coercions).toHaveLength(1)
  expect(parsed.coercions[0]).toMatch(new RegExp(`^${argument}\\b`))
}

describe.each(bounds)('%s %s', (name, argument, inside, outside) => {
  const tool = toolNamed(name)
  const args = (value: unknown) => withValue(base[name] ?? {}, argument, value)

  test.each(inside.map((value) => [value]))('takes %j', async (value) => {
    const parsed = parseArguments(tool, args(value))
    if (value === null) expectNotGiven(parsed)
    else expect(parsed).toMatchObject({ ok: true })
    const sandbox = openSandbox({ file: ':memory:', speed: 1 })
    const { status, reply } = await ask(sandbox, tool, args(value))
    expect(status, JSON.stringify(reply)).toBeLessThan(300)
    sandbox.close()
  })

  test.each(outside.map((value) => [value]))('refuses %j', async (value) => {
    const parsed = parseArguments(tool, args(value))
    if (value === null) expectNotGiven(parsed)
    else if (parsed.ok) expectReading(parsed, argument, value)
    else expect(parsed.problems.some((one) => one.argument.startsWith(argument))).toBe(true)
    if (isTextOnly(tool, argument, value)) return
    const sandbox = openSandbox({ file: ':memory:', speed: 1 })
    const { status, reply } = await ask(sandbox, tool, args(value))
    expect(status).toBe(422)
    const fields = reply.errors?.map(({ field }) => field.replace(/^(body|query)\./, ''))
    expect(fields?.some((field) => field.startsWith(argument))).toBe(true)
    sandbox.close()
  })
})
