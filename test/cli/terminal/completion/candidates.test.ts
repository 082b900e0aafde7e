import { expect, test } from 'vitest'
import { commands } from '../../../../src/cli/commands/index.ts'
import { candidatesFor } from '../../../../src/cli/terminal/completion.ts'
import { tools } from '../../../../tools/index.ts'

const clients = ['codex', 'cursor', 'zed'].map((word) => ({ word, about: '' }))
const words = (...typed: string[]) =>
  candidatesFor(typed, { commands, clients }).map(({ word }) => word)

test.each<[string[], string[]]>([
  [['st'], ['stdio']],
  [['ve'], ['version']],
  [['--read'], ['--read-only']],
  [['http', '--por'], ['--port']],
  [['--confirm', 'p'], ['person']],
  [['--confirm=p'], ['--confirm=person']],
  [['--confirm', '=', 'p'], ['person']],
  [['call', 'wait'], ['wait_for_call']],
  [['tools', 'wait'], ['wait_for_call']],
  [['call', '--tools', 'wait'], ['wait_for_call']],
  [['call', '--read-only', '--confirm', 'never', 'wait'], ['wait_for_call']],
  [['call', '--read'], ['--read-only']],
  [['call', 'wait_for_call', '--t'], ['--timeout-seconds']],
  [['call', 'wait-for-call', '--call-id', 'x', '--t'], ['--timeout-seconds']],
  [
    ['call', 'create_agent', '--model.m'],
    ['--model.model', '--model.max-tokens'],
  ],
  [
    ['call', 'create_agent', '--no-den'],
    ['--no-denoising.web', '--no-denoising.telephony'],
  ],
  [
    ['call', 'place_call', '--type', ''],
    ['phone', 'web'],
  ],
  [['call', 'place_call', '--type=w'], ['--type=web']],
  [
    ['call', 'place_call', '--type', '=', ''],
    ['phone', 'web'],
  ],
  [
    ['call', 'place_call', '--type', '='],
    ['phone', 'web'],
  ],
  [['call', 'get_usage', '--group-by', 'sub'], ['subaccount']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['help', 'inst'], ['install']],
  [
    ['help', 'a'],
    ['audit', 'all'],
  ],
  [['help', 'http', ''], ['all']],
  [['help', 'call', 'wait'], ['wait_for_call']],
  [['help', 'tools', 'al'], ['all']],
  [['http', '--help', ''], ['all']],
  [['--help', 'al'], ['all']],
  [['call', '-h', 'al'], ['all']],
  [
    ['install', 'c'],
    ['codex', 'cursor'],
  ],
  [['uninstall', '--yes', 'cursor', 'c'], ['codex']],
])('after %j come %j', (typed, expected) => {
  expect(words(...typed)).toEqual(expected)
})

test.each<[string[]]>([
  [['--config', '']],
  [['call', 'list_agents', '--args', '']],
  [['call', 'list_agents', '--name', 'x']],
  [['call', 'get_agnt', '--']],
  [['nothing', '']],
  [['help', 'install', 'x', '']],
  [['help', 'nothing', '']],
  [['doctor', '']],
])('after %j a shell may offer files', (typed) => {
  expect(words(...typed)).toEqual([])
})

test('a tool is explained by its description', () => {
  const candidates = candidatesFor(['tools', ''], { commands, clients })
  expect(candidates).toEqual(
    tools.map(({ name, description }) => ({ word: name, about: description })),
  )
})

test('an argument is offered once, a list again', () => {
  expect(words('call', 'list_agents', '--limit', '5', '--lim')).toEqual([])
  expect(words('call', 'list_agents', '--tags', 'x', '--tag')).toEqual(['--tags'])
})
