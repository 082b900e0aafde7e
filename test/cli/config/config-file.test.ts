import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig, settings } from '../../../src/cli/commands/index.ts'
import { ConfigError } from '../../../src/cli/config/config-error.ts'
import { readConfigFile } from '../../../src/cli/config/config-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'config-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(content: unknown): string {
  const path = join(folder, 'config.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

function read(content: unknown) {
  const { texts, faults } = readConfigFile(fileOf(content), settings)
  for (const fault of faults) throw fault
  return texts
}
const httpWith = (content: unknown, env = {}, flags: string[] = []) => {
  const config = readConfig(['http', '--config', fileOf(content), ...flags], env)
  if (config.command !== 'http') throw new Error(config.command)
  return config
}

describe('a configuration file', () => {
  test('says everything that flags can, in types of JSON', () => {
    const config = httpWith({
      $schema: './config.schema.json',
      port: 4000,
      'client-timeout': 2.5,
      'allowed-hosts': ['a.example', 'b.example'],
      confirm: 'always',
      'local-token': 'off',
      'read-only': true,
      toolsets: ['calls', 'usage'],
      'dial-policy': { allow_countries: ['DE'] },
      account: null,
    })
    expect(config).toMatchObject({
      listen: { port: 4000 },
      allowedHosts: ['a.example', 'b.example'],
      wantsLocalToken: false,
      limits: { clientMs: 2500 },
      scope: { account: undefined, exposure: { toolsets: 'calls,usage', readOnly: 'true' } },
      calling: { confirm: 'always', policy: '{"allow_countries":["DE"]}' },
    })
  })

  test('every setting of every command can be given', () => {
    const all = Object.entries(settings).filter(
      ([name, { variable }]) => variable !== undefined && name !== 'config',
    )
    const samples = { string: 'x', boolean: true, array: ['x'], number: 1, integer: 1, object: {} }
    const content = Object.fromEntries(
      all.map(([name, { json }]) => [
        name,
        name === 'trusted-proxies'
          ? ['10.0.0.0/8']
          : (json.enum?.[0] ?? samples[[json.type].flat()[0] ?? 'string']),
      ]),
    )
    expect(Object.keys(read(content)).toSorted()).toEqual(all.map(([name]) => name).toSorted())
  })

  test('flags win over variables, and variables over the file; what is blank does not count', () => {
    const port = (...given: Parameters<typeof httpWith>) => httpWith(...given).listen.port
    const env = { VOICE_AGENT_PORT: '2' }
    expect(port({ port: 1 })).toBe(1)
    expect(port({ port: 1 }, env)).toBe(2)
    expect(port({ port: 1 }, env, ['--port', '3'])).toBe(3)
    expect(port({ port: 1 }, { VOICE_AGENT_PORT: ' ' })).toBe(1)
    expect(port({ port: 1 }, env, ['--port='])).toBe(2)
  })

  test('can be named by a variable', () => {
    const config = readConfig(['sandbox'], { VOICE_AGENT_CONFIG: fileOf({ port: 77 }) })
    expect(config).toMatchObject({ command: 'sandbox', listen: { port: 77 } })
  })

  test.each([
    ['an unknown setting', { prt: 1 }, /"prt"; .*\bport\b/],
    ['a setting of one run', { json: true }, / "json"\.$/],
    ['another file', { config: 'x' }, / config\.$/],
    ['a setting of every object', { toString: 'x' }, / "toString"\.$/],
    ['a key given twice', '{"port": 1,\n"port": 2}', / port .* 2\b/],
    [
      'a policy key given twice',
      '{"dial-policy": {"max_per_day": 1, "max_per_day": 2}}',
      /\.max_per_day /,
    ],
    ['a text for a number', { port: '1' }, / port .*number\.$/],
    ['a number for a text', { account: 1 }, / account .*text\.$/],
    ['an object for a list', { 'allowed-hosts': {} }, / allowed-hosts .*list /],
    ['a comma in a list', { 'allowed-hosts': ['a,b'] }, / allowed-hosts .*commas\.$/],
    ['true for a choice', { 'local-token': true }, / local-token .*"on", "off"\.$/],
    ['a list', [], /\.json: .*object/],
    ['an empty file', '', /\.json: .*JSON/],
    ['a value out of bounds', { port: 70_000 }, /: port .* 65535,/],
    ['a blank policy', { 'dial-policy': ' ' }, /^--dial-policy \(VOICE_AGENT_DIAL_POLICY\) /],
  ])('with %s is refused as a whole', (_, content, message) => {
    expect(() => httpWith(content)).toThrow(message)
    expect(() => httpWith(content)).toThrow(ConfigError)
  })

  test('is refused with all of its faults, and with all else that is wrong', () => {
    const content = {
      hots: 'x',
      port: 70_000,
      log: 3,
      confirm: 'nope',
      account: 'a/b',
      secret: 'short',
    }
    for (const fault of [/"hots"/, / port /, / log /, / confirm /, /--account /, /--secret /])
      expect(() => httpWith(content)).toThrow(fault)
    expect(() => httpWith({ account: 'a/b', secret: 'short' })).toThrow(/--account .*--secret /)
  })

  test('that cannot be read is an error that names it', () => {
    expect(() => readConfig(['--config', join(folder, 'none.json')], {})).toThrow(
      `${join(folder, 'none.json')}: `,
    )
    expect(() => readConfig(['--config', folder], {})).toThrow('(EISDIR)')
  })

  test('is not repeated in an error: it may hold a key', () => {
    for (const content of ['{"api-key": sk-live-1}', '{"api-key": ["sk-live-1"]}', '"sk-live-1"']) {
      expect(() => read(content)).toThrow(/^(?!.*sk-live)/)
    }
  })

  test('is accepted by the published schema exactly where it is accepted here', () => {
    const schema = readFileSync(
      join(import.meta.dirname, '../../../docs/config.schema.json'),
      'utf8',
    )
    const isValid = new Ajv2020({ strict: false }).compile(JSON.parse(schema))
    const good = { port: 1, 'allowed-hosts': ['a'], confirm: 'auto', 'dial-policy': {} }
    expect(isValid(good)).toBe(true)
    for (const wrong of [
      { prot: 1 },
      { port: '1' },
      { port: 70_000 },
      { confirm: 'x' },
      { json: true },
    ]) {
      expect(isValid(wrong)).toBe(false)
    }
  })
})
