import { expect, test } from 'vitest'
import { CommandLineError } from '../../../src/cli/config/config-error.ts'
import { readToolArguments } from '../../../src/cli/terminal/tool-arguments.ts'
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
  readToolArguments(words, toolOf(tool), {
    readFile: async (path) => files[path] ?? '',
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
  ['list_agents', ['--lmit', '5'], / --lmit\..* --limit\?$/],
  ['list_agents', ['--read-only'], / --read-only\. --read-only /],
  ['list_agents', ['Support'], /"Support"\..* --name /],
  ['list_agents', ['--limit'], /^--limit (?!.*--limit=VALUE)/],
  ['list_agents', ['--name', '--limit', '5'], /^--name .*--name=VALUE/],
  ['list_agents', ['--limit', '5', '--limit', '6'], /^--limit /],
  ['list_agents', ['--limit.x', '5'], /^--limit .*number,/],
  ['list_agents', ['--__proto__', '5'], /^--__proto__ /],
  ['list_agents', ['--args', '[1]'], /^--args .*object\.$/],
  ['list_agents', ['--args', '{'], /^--args .*JSON(?!.*--args @FILE)/],
  ['list_agents', ['--args', '{limit:5}'], /^--args .*JSON.* \(--args @FILE\)/],
  ['create_agent', ['--tags', "'[a,b]'"], /^--tags .*JSON.* \(--args @FILE\)/],
  ['list_agents', ['--args'], /^--args .*JSON, @FILE/],
  ['list_agents', ['--args', '{}', '--args={}'], /^--args /],
  ['get_current_account', ['--x', '1'], /The tool takes none|There are/],
  ['create_agent', ['--model', 'gpt-5'], /^--model .*JSON.* --model\.NAME\.$/],
  ['create_agent', ['--model.', 'x'], /^--model\. /],
  ['create_agent', ['--denoising.webb'], / --denoising\.webb\..* --denoising\.web\?$/],
  ['create_agent', ['--model', '{"a":1,"a":2}'], /^--model .* a /],
  ['create_agent', ['--metadata.a', '1', '--metadata.a.b', '2'], /^--metadata\.a\.b /],
  ['update_agent', ['--transcriber.language', 'null'], / --clear transcriber\.language\./],
  [
    'update_agent',
    ['--transcriber.language=null'],
    /^--transcriber\.language .*--transcriber\.language:="null"/,
  ],
  ['update_agent', ['--voice.settings.speed', 'null'], / --clear voice\.settings\.speed\.$/],
  [
    'update_agent',
    ['--capture-settings.recording-enabled', 'null'],
    / --clear capture_settings\.recording_enabled\.$/,
  ],
  ['update_agent', ['--transcriber.keywords', 'null'], / --clear transcriber\.keywords\.$/],
  ['update_agent', ['--ambient-sound.source', 'null'], / --clear ambient_sound\.source\./],
  ['update_agent', ['--metadata', 'null'], / --clear metadata\.$/],
  ['update_agent', ['--metadata.x', 'null'], / --clear metadata\.x\. .*--metadata\.x:=null/],
  ['update_phone_number', ['--sip-trunk-id', 'null'], / --clear sip_trunk_id\./],
  [
    'create_agent',
    ['--transcriber.language', 'null'],
    /^(?!.*--clear)--transcriber\.language .*:="null"/,
  ],
  ['list_agents', ['--limit', 'null'], /^(?!.*(--clear|:=))--limit /],
  ['create_agent', ['--metadata.__proto__.x', '2'], /^--metadata\.__proto__\.x /],
])('%s %j is refused', async (tool, words, message) => {
  await expect(read(tool, words)).rejects.toThrow(CommandLineError)
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
