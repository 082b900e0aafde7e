import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import * as z from 'zod'
import { importInstalled, installOnce } from '../../../test/harness/install-once.ts'
import { tools } from '../../../tools/index.ts'
import { firstSentence } from '../../cli/terminal/tool-help.ts'
import { sandboxKeys } from '../../sandbox/seed.ts'
import { installOptions, manifestOptions, optionVariables } from './install-options.ts'
import { type PackageInfo, root } from './package-info.ts'
import { accountOver, type Launch, withSandbox } from './try-program.ts'

/** Folder of @anthropic-ai/mcpb, which a plain `npm ci` does not install. */
const toolsFolder = join(root, 'test/dev/release/mcpb')

/**
 * Runs a command of @anthropic-ai/mcpb. Throws its output if it fails, as for an invalid bundle.
 */
function mcpb(...args: string[]): void {
  const command = join(toolsFolder, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js')
  try {
    execFileSync(process.execPath, [command, ...args], { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = z.object({ stdout: z.string(), stderr: z.string() }).parse(error)
    throw new Error(`mcpb ${args[0]}: ${`${stdout}${stderr}`.trim()}`)
  }
}

/** Package files that a desktop client does not need, or that the bundle has in its own form. */
const notInBundle = /^(?:docs\/|(?:CHANGELOG|SECURITY)\.md$|package\.json$)/

/** Writes the bundle's files into a folder for packing. `paths`: the files of the package. */
export function writeBundle(info: PackageInfo, paths: readonly string[], folder: string): void {
  for (const path of paths.filter((one) => !notInBundle.test(one))) {
    cpSync(join(root, path), join(folder, path))
  }
  const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`
  writeFileSync(join(folder, 'manifest.json'), json(mcpbManifest(info)))
  // Without this `type`, Node.js would first try to parse the program as CommonJS.
  const { name, version, license } = info
  writeFileSync(join(folder, 'package.json'), json({ name, version, license, type: 'module' }))
  cpSync(join(root, 'docs/pictures/icon.png'), join(folder, 'icon.png'))
}

/**
 * Packs a bundle's folder into a file in `out` with @anthropic-ai/mcpb, which validates it. Returns
 * the path of the file.
 */
export function packBundle({ name, version }: PackageInfo, folder: string, out: string): string {
  installOnce(toolsFolder)
  mcpb('validate', join(folder, 'manifest.json'))
  const file = join(out, `${name}-${version}.mcpb`)
  mcpb('pack', folder, file)
  return file
}

/** A desktop client's launch command, from its manifest and a person's answers. */
const McpConfig = z.object({
  command: z.literal('node'),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
})
type GetMcpConfig = (options: object) => Promise<unknown>
const Mcpb = z.object({
  getMcpConfigForManifest: z.custom<GetMcpConfig>((value) => typeof value === 'function'),
})

/** Launch command of an unpacked bundle, with a person's answers to its options. */
async function launchWith(folder: string, userConfig: Record<string, unknown>): Promise<Launch> {
  const mcpbModule = await importInstalled(toolsFolder, '@anthropic-ai/mcpb/node')
  const { getMcpConfigForManifest } = Mcpb.parse(mcpbModule)
  const { args, env } = McpConfig.parse(
    await getMcpConfigForManifest({
      manifest: JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')),
      extensionPath: folder,
      systemDirs: {},
      userConfig,
      pathSeparator: '/',
    }),
  )
  assert.equal(relative(folder, args[0] ?? ''), join(entryPoint))
  return { command: [process.execPath, ...args], env }
}

/**
 * Unpacks a bundle and runs it as a desktop client would: with options missing, with options empty,
 * and with an account's API key. Throws on the first failure.
 */
export async function tryBundle(file: string, folder: string): Promise<void> {
  const unpacked = join(folder, basename(file, '.mcpb'))
  mcpb('unpack', file, unpacked)
  const notFilled = await launchWith(unpacked, {})
  assert.match(notFilled.env?.VOICE_AGENT_API_KEY ?? '', /^\$\{user_config\.api_key\}$/)
  assert.equal(await accountOver(notFilled, folder), 'Sandbox account')
  const empty = Object.fromEntries(
    Object.entries(installOptions).map(([key, { default: usual }]) => [key, usual ?? '']),
  )
  assert.equal(await accountOver(await launchWith(unpacked, empty), folder), 'Sandbox account')
  await withSandbox(notFilled, folder, async (url) => {
    const filled = { base_url: url, api_key: sandboxKeys.subaccount }
    const account = await accountOver(await launchWith(unpacked, { ...empty, ...filled }), folder)
    assert.notEqual(account, 'Sandbox account')
  })
}

/** Start file of the desktop bundle's server. */
const entryPoint = 'dist/voice-agent-mcp.js'

/** Manifest of the desktop bundle (MCPB specification, version 0.3). */
export function mcpbManifest(info: PackageInfo): Record<string, unknown> {
  const { name, version, description, author, license, keywords, engines, repository } = info
  return {
    manifest_version: '0.3',
    name,
    display_name: 'Voice agents',
    version,
    description,
    author: { name: author },
    ...(repository && {
      repository: { type: 'git', url: `${repository.url}.git` },
      homepage: repository.url,
      support: `${repository.url}/issues`,
    }),
    license,
    keywords,
    icon: 'icon.png',
    server: {
      type: 'node',
      entry_point: entryPoint,
      mcp_config: {
        command: 'node',
        args: [`\${__dirname}/${entryPoint}`],
        env: optionVariables,
      },
    },
    tools: tools.map((tool) => ({
      name: tool.name,
      description: `${firstSentence(tool.description)}.`,
    })),
    // Prompt texts depend on the account.
    prompts_generated: true,
    compatibility: {
      platforms: ['darwin', 'win32', 'linux'],
      runtimes: { node: engines.node },
    },
    user_config: manifestOptions,
  }
}
