import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import packageJson from '../../../package.json' with { type: 'json' }
import { settings } from '../../../src/cli/commands/index.ts'
import { mcpbManifest } from '../../../src/dev/release/desktop-bundle.ts'
import { installOptions } from '../../../src/dev/release/install-options.ts'
import { readPackage, root } from '../../../src/dev/release/package-info.ts'
import { tools } from '../../../tools/index.ts'
import { connectStdio } from '../../harness/client.ts'
import { type Program, startPlatformProgram, startProgram } from '../../harness/program.ts'

/*
 * Options that desktop clients and clients of the MCP registry ask users for, and the program
 * started with the answers.
 */

const Manifest = z.looseObject({
  manifest_version: z.literal('0.3'),
  version: z.string(),
  server: z.looseObject({
    mcp_config: z.strictObject({
      command: z.literal('node'),
      args: z.tuple([z.literal(`\${__dirname}/dist/voice-agent-mcp.js`)]),
      env: z.record(z.string(), z.string()),
    }),
  }),
  tools: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  compatibility: z.looseObject({ runtimes: z.strictObject({ node: z.string() }) }),
  user_config: z.record(
    z.string(),
    z.looseObject({
      title: z.string(),
      required: z.literal(false),
      sensitive: z.boolean().optional(),
    }),
  ),
})
const manifest = Manifest.parse(mcpbManifest(readPackage(root)))

test('each option is a setting with a variable, and is secret if the setting is', () => {
  for (const { variable, sensitive } of Object.values(installOptions)) {
    const setting = Object.values(settings).find((one) => one.variable === variable)
    expect(setting, variable).toBeDefined()
    expect(setting?.blankError, variable).toBeUndefined()
    expect(sensitive ?? false, variable).toBe(setting?.isSecret ?? false)
  }
})

test('the manifest has the version and the Node.js of package.json, and every tool', () => {
  expect(manifest.version).toBe(packageJson.version)
  expect(manifest.compatibility.runtimes.node).toBe(packageJson.engines.node)
  expect(manifest.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
  expect(Object.keys(manifest.user_config)).toEqual(Object.keys(installOptions))
})

describe('the built program', () => {
  let platform: Program & { url: string }
  beforeAll(async () => {
    platform = await startPlatformProgram()
  })
  afterAll(() => platform?.[Symbol.asyncDispose]())

  /** The environment that a client derives from the manifest and the user's answers. */
  const filled = (answers: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(manifest.server.mcp_config.env).map(([variable, text]) => [
        variable,
        text.replace(/\$\{user_config\.(\w+)\}/, (whole, key: string) => answers[key] ?? whole),
      ]),
    )
  const everything = (text: string) =>
    Object.fromEntries(Object.keys(installOptions).map((key) => [key, text]))

  test.each([
    ['that are not filled in', filled({})],
    ['that are empty', filled(everything(''))],
    ['that are blank', filled(everything('  '))],
  ])('runs on the sandbox with options %s', async (_, env) => {
    await using client = await connectStdio('v2 2026-07-28', { env })
    expect(await client.listTools()).toHaveLength(tools.length)
    expect(await client.value('get_current_account')).toMatchObject({ name: 'Sandbox account' })
  })

  test('runs with address, key, account and read_only, without a configuration file', async () => {
    const key = { base_url: platform.url, api_key: 'sandbox-key', read_only: 'true' }
    await using client = await connectStdio('v1', { env: filled({ ...key, account: '' }) })
    const { id } = await client.value('get_current_account')
    const account = String(id)
    await using pinned = await connectStdio('v1', { env: filled({ ...key, account }) })
    const names = (await pinned.listTools()).map(({ name }) => name)
    expect(names).toContain('list_agents')
    expect(names).not.toContain('place_call')
    expect(await pinned.value('get_current_account')).toMatchObject({ id })
  })

  test.each([
    ['a key without an address', { api_key: 'sandbox-key' }, /BASE_URL is not/],
    [
      'an address without a key',
      { base_url: 'https://api.your-platform.example' },
      /API_KEY is not/,
    ],
  ])('refuses %s, whether the other is empty or not filled in', async (_, given, message) => {
    for (const answers of [given, { ...everything(''), ...given }]) {
      await using program = startProgram([], filled(answers))
      expect(await program.exited).toBe(1)
      expect(program.stderr()).toMatch(message)
    }
  })
})
