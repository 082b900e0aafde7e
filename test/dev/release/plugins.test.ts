import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { readConfig } from '../../../src/cli/commands/index.ts'
import { readPackage, root } from '../../../src/dev/release/package-info.ts'
import { writePlugin } from '../../../src/dev/release/plugins.ts'
import { scratchFolder } from '../../harness/program.ts'

const folder = scratchFolder()
afterAll(() => folder[Symbol.dispose]())
const info = readPackage(root)
const { name: packageName, version } = info
const plugin = join(folder.path, 'plugin')
writePlugin(info, plugin)

const manifest = (path: string): unknown => JSON.parse(readFileSync(join(plugin, path), 'utf8'))

const Launch = z.strictObject({
  command: z.literal('npx'),
  args: z.tuple([z.literal('-y'), z.literal(`${packageName}@${version}`)]),
  env: z.record(z.string(), z.string()).optional(),
})

describe('the plugin for Claude Code', () => {
  // Documented fields of an option; Claude Code refuses unknown ones.
  const Option = z.strictObject({
    type: z.enum(['string', 'number', 'boolean', 'directory', 'file']),
    title: z.string(),
    description: z.string(),
    sensitive: z.boolean().optional(),
    required: z.literal(false),
    default: z.union([z.string(), z.boolean()]),
  })
  const Plugin = z.looseObject({
    name: z.string().regex(/^[a-z0-9-]+$/),
    version: z.literal(version),
    userConfig: z.record(z.string(), Option),
    mcpServers: z.record(z.string(), Launch),
  })
  const claude = Plugin.parse(manifest('.claude-plugin/plugin.json'))

  /** The server's environment if the user sets these options. */
  const environment = (given: Record<string, string>) => {
    const [{ env = {} } = {}] = Object.values(claude.mcpServers)
    const answerTo = (key = '') => given[key] ?? String(claude.userConfig[key]?.default)
    return Object.fromEntries(
      Object.entries(env).map(([variable, text]) => [
        variable,
        text.replaceAll(/\$\{user_config\.(\w+)\}/g, (_, key) => answerTo(key)),
      ]),
    )
  }

  test('starts the server on its sandbox if no option is filled in', () => {
    expect(readConfig(['stdio'], environment({}))).toMatchObject({
      platform: { kind: 'sandbox' },
      scope: { account: undefined },
    })
  })

  test('passes the options to the server, and only the key is a secret', () => {
    const given = {
      base_url: 'https://api.example.com',
      api_key: 'key-1',
      account: 'acc',
      read_only: 'true',
    }
    expect(readConfig(['stdio'], environment(given))).toMatchObject({
      platform: { kind: 'network', apiKey: 'key-1' },
      scope: { account: 'acc', exposure: { readOnly: 'true' } },
    })
    const secret = Object.entries(claude.userConfig).filter(([, { sensitive }]) => sensitive)
    expect(secret.map(([key]) => key)).toEqual(['api_key'])
  })

  test('is in the marketplace of its repository, with the skill', () => {
    expect(manifest('.claude-plugin/marketplace.json')).toMatchObject({
      name: expect.any(String),
      owner: { name: expect.any(String) },
      plugins: [{ name: claude.name, source: './' }],
    })
    const skill = readFileSync(join(plugin, 'skills/voice-agent/SKILL.md'), 'utf8')
    expect(skill).toContain(`\`npx -y ${packageName}@${version}\``)
    expect(skill).not.toContain('CLONE')
  })
})

test('the extension for Gemini CLI asks for settings that exist', () => {
  const Extension = z.strictObject({
    name: z.string().regex(/^[a-z0-9-]+$/),
    version: z.literal(version),
    description: z.string(),
    mcpServers: z.record(z.string(), Launch),
    settings: z.array(
      z.strictObject({
        name: z.string(),
        description: z.string(),
        envVar: z.string(),
        sensitive: z.boolean().optional(),
      }),
    ),
  })
  const { settings } = Extension.parse(manifest('gemini-extension.json'))
  const empty = Object.fromEntries(settings.map(({ envVar }) => [envVar, '']))
  expect(readConfig(['stdio'], empty)).toMatchObject({ platform: { kind: 'sandbox' } })
  expect(settings.find(({ envVar }) => envVar === 'VOICE_AGENT_API_KEY')?.sensitive).toBe(true)
})

test('the plugin for clients of Agent Plugins has only the fields of the specification, and no key', () => {
  const schema = (file: string) =>
    z.literal(`https://agent-plugins.org/schemas/1.0.0/${file}.schema.json`)
  const Plugin = z.strictObject({
    $schema: schema('plugin'),
    name: z.string().regex(/^[a-z0-9]+(?:[-.][a-z0-9]+)*$/),
    version: z.literal(version),
    description: z.string(),
    author: z.strictObject({ name: z.string() }),
    repository: z.string().optional(),
    license: z.string(),
    keywords: z.array(z.string()),
  })
  const Server = z.strictObject({
    type: z.literal('stdio'),
    ...Launch.omit({ env: true }).shape,
    cwd: z.literal(`\${PLUGIN_DATA}`),
  })
  const Servers = z.strictObject({
    $schema: schema('mcp'),
    mcpServers: z.record(z.string(), Server),
  })
  const { name } = Plugin.parse(manifest('plugin.json'))
  expect(Object.keys(Servers.parse(manifest('mcp.json')).mcpServers)).toEqual([name])
})
