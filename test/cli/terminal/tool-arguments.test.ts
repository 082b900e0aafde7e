import { expect, test } from 'vitest'
import { readToolArguments } from '../../../src/cli/terminal/tool-arguments.ts'
import { isClearable } from '../../../src/tool/clear-argument.ts'
import { tools } from '../../../tools/index.ts'

const files: Record<string, string> = {
  'call.json': '{"agent_id": "a", "overrides": {"volume": {"web": 1}}}',
  'greeting.txt': 'Hello\n{{ contact.first_name }}\n',
}

const toolOf = (name: string) => {
  const tool = tools.find((one) => one.name === name)
  if (!tool) throw new Error(`No tool ${name}`)
  return tool
}

const read = (tool: string, words: string[]) =>
  readToolArguments(words, {
    schema: toolOf(tool).inputSchema(),
    absent: toolOf(tool).absent,
    clears: (path) => isClearable(toolOf(tool), path),
    settings: ['read-only', 'config'],
    readFile: (path) => files[path] ?? '',
    readInput: async () => '{"limit": 7}',
  })

const argumentsOf = async (tool: string, words: string[]) => (await read(tool, words)).arguments

test.each<[string, string[], Record<string, unknown>]>([
  ['list_agents', [], {}],
  ['list_agents', ['--limit', '5', '--offset=10'], { limit: 5, offset: 10 }],
  ['list_agents', ['--include-archived'], { include_archived: true }],
  ['list_agents', ['--include_archived', 'false'], { include_archived: false }],
  ['list_agents', ['--no-include-archived'], { include_archived: false }],
  ['list_agents', ['--name', '42'], { name: '42' }],
  ['list_agents', ['--name', '-5'], { name: '-5' }],
  ['list_agents', ['--name=--x=y'], { name: '--x=y' }],
  ['list_agents', ['--name', ''], { name: '' }],
  ['list_agents', ['--name', 'null'], { name: 'null' }],
  ['update_agent', ['--name=null', '--note', 'null'], { name: 'null', note: 'null' }],
  [
    'update_agent',
    ['--transcriber.language:="null"', '--metadata.x:=null'],
    { transcriber: { language: 'null' }, metadata: { x: null } },
  ],
  ['list_agents', ['--tags', 'a', '--tags', 'b'], { tags: ['a', 'b'] }],
  ['list_agents', ['--tags', '["a","b"]'], { tags: ['a', 'b'] }],
  ['list_agents', ['--tags', 'a,b'], { tags: 'a,b' }],
  ['list_agents', ['--tags', 'a,b', '--tags', 'c'], { tags: ['a', 'b', 'c'] }],
  ['list_agents', ['--limit', '12345678901234567890'], { limit: '12345678901234567890' }],
  ['list_agents', ['--limit', 'ten'], { limit: 'ten' }],
  ['list_agents', ['--args', '-', '--offset', '1'], { limit: 7, offset: 1 }],
  [
    'create_agent',
    ['--model.provider', 'openai', '--model.max-tokens', '9', '--voice.settings.speed', '1.5'],
    { model: { provider: 'openai', max_tokens: 9 }, voice: { settings: { speed: 1.5 } } },
  ],
  [
    'create_agent',
    ['--model', '{"provider":"openai"}', '--model.model', 'gpt-5'],
    { model: { provider: 'openai', model: 'gpt-5' } },
  ],
  ['create_agent', ['--no-denoising.web'], { denoising: { web: false } }],
  [
    'create_agent',
    ['--metadata.Cost-Centre', '7', '--metadata.paid:=true', '--metadata.n:=[1]'],
    { metadata: { 'Cost-Centre': '7', paid: true, n: [1] } },
  ],
  [
    'create_agent',
    ['--metadata.constructor', 'x', '--metadata.toString.valueOf', 'y'],
    { metadata: { constructor: 'x', toString: { valueOf: 'y' } } },
  ],
  [
    'create_agent',
    ['--initial-message.message:@greeting.txt'],
    { initial_message: { message: files['greeting.txt'] } },
  ],
  [
    'place_call',
    ['--args', '@call.json', '--agent-id', 'b', '--overrides.volume.telephony:=0.5'],
    { agent_id: 'b', overrides: { volume: { web: 1, telephony: 0.5 } } },
  ],
  [
    'place_call',
    ['--test-variables.contact.first_name', 'Ada'],
    { test_variables: { contact: { first_name: 'Ada' } } },
  ],
  [
    'place_calls',
    ['--calls', '+12025550100', '--calls', '{"to_number":"+12025550101"}'],
    { calls: [{ to_number: '+12025550100' }, { to_number: '+12025550101' }] },
  ],
])('%s %j', async (tool, words, expected) => {
  expect(await argumentsOf(tool, words)).toEqual(expected)
})

test.each<[string, string[], RegExp]>([
  ['list_agents', ['--lmit', '5'], /no argument --lmit\. Did you mean --limit\?/],
  ['list_agents', ['--read-only'], /--read-only is a setting of the program, which stands before/],
  ['list_agents', ['Support'], /Unexpected "Support"\. Arguments are given as --name value\./],
  ['list_agents', ['--limit'], /--limit needs a value\./],
  ['list_agents', ['--name', '--limit', '5'], /--name needs a value\..*--name=VALUE/],
  ['list_agents', ['--limit', '5', '--limit', '6'], /--limit is given twice/],
  ['list_agents', ['--limit.x', '5'], /--limit is a whole number, which has no fields/],
  ['list_agents', ['--__proto__', '5'], /names no argument/],
  ['list_agents', ['--args', '[1]'], /--args takes one JSON object/],
  ['list_agents', ['--args', '{'], /--args is not valid JSON[^"]*\.$/],
  ['list_agents', ['--args', '{limit:5}'], /The shell may have removed them: .* \(--args @FILE\)/],
  ['create_agent', ['--tags', "'[a,b]'"], /The shell may have removed them/],
  ['list_agents', ['--args'], /--args needs JSON/],
  ['list_agents', ['--args', '{}', '--args={}'], /--args is given twice/],
  ['get_current_account', ['--x', '1'], /The tool takes none|There are/],
  ['create_agent', ['--model', 'gpt-5'], /--model is an object: give it as JSON, or its fields as/],
  ['create_agent', ['--model.', 'x'], /names no argument/],
  ['create_agent', ['--denoising.webb'], /Did you mean --denoising\.web\?/],
  ['create_agent', ['--model', '{"a":1,"a":2}'], /a is given twice/],
  ['create_agent', ['--metadata.a', '1', '--metadata.a.b', '2'], /given twice/],
  ['update_agent', ['--transcriber.language', 'null'], /give --clear transcriber\.language\./],
  [
    'update_agent',
    ['--transcriber.language=null'],
    /For the text, .*--transcriber\.language:="null"/,
  ],
  ['update_agent', ['--voice.settings.speed', 'null'], /give --clear voice\.settings\.speed\.$/],
  [
    'update_agent',
    ['--capture-settings.recording-enabled', 'null'],
    /give --clear capture_settings\.recording_enabled\.$/,
  ],
  ['update_agent', ['--transcriber.keywords', 'null'], /give --clear transcriber\.keywords\.$/],
  ['update_agent', ['--ambient-sound.source', 'null'], /give --clear ambient_sound\.source\./],
  ['update_agent', ['--metadata', 'null'], /give --clear metadata\.$/],
  ['update_agent', ['--metadata.x', 'null'], /give --clear metadata\.x\. .*--metadata\.x:=null/],
  ['update_phone_number', ['--sip-trunk-id', 'null'], /give --clear sip_trunk_id\./],
  ['create_agent', ['--transcriber.language', 'null'], /^(?!.*--clear).*no bare null.*:="null"/],
  ['list_agents', ['--limit', 'null'], /^(?!.*--clear).*Leave it out/],
  ['create_agent', ['--metadata.__proto__.x', '2'], /names no argument/],
])('%s %j is refused', async (tool, words, message) => {
  await expect(read(tool, words)).rejects.toThrow(message)
})

test('flags of the command itself stand among the arguments, and no tool has one of their names', async () => {
  expect(await read('list_agents', ['--json', '--limit', '5', '-h'])).toEqual({
    arguments: { limit: 5 },
    wantsJson: true,
    wantsHelp: true,
  })
  const names = tools.flatMap((tool) => Object.keys(tool.inputSchema().properties ?? {}))
  expect(names.filter((name) => ['args', 'json', 'help'].includes(name))).toEqual([])
})

test.each(['--system-prompt', '--prompt', '--instructions'])(
  '%s of an agent is explained, because the API has no such field',
  async (flag) => {
    await expect(read('create_agent', [flag, 'Be kind.'])).rejects.toThrow(/initial_message/)
  },
)
