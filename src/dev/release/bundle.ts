import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'
import { installOnce } from '../../../test/harness/install-once.ts'
import { sandboxKeys } from '../../sandbox/seed-ids.ts'
import { iconPng } from './icon.ts'
import { installOptions } from './install-options.ts'
import { entryPoint, mcpbManifest } from './mcpb-manifest.ts'
import { type PackageInfo, root } from './package-info.ts'
import { sha256Of } from './sha256-of.ts'
import { accountOver, type Launch, withSandbox } from './try-program.ts'

/** The folder of @anthropic-ai/mcpb, which a plain `npm ci` does not install. */
const toolsFolder = join(root, 'test/dev/release/mcpb')

/** Runs the command of @anthropic-ai/mcpb, which ends with an error where a bundle is not valid. */
function mcpb(...args: string[]): void {
  const command = join(toolsFolder, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js')
  try {
    execFileSync(process.execPath, [command, ...args], { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = z.object({ stdout: z.string(), stderr: z.string() }).parse(error)
    throw new Error(`mcpb ${args[0]}: ${`${stdout}${stderr}`.trim()}`)
  }
}

/** Files of the package that a desktop client has no use for, or that the bundle has in its own form. */
const notInBundle = /^(?:docs\/|(?:CHANGELOG|SECURITY)\.md$|package\.json$)/

/** Writes the files of the bundle into a folder, before they are packed. `paths`: those of the package. */
export function writeBundle(info: PackageInfo, paths: readonly string[], folder: string): void {
  for (const path of paths.filter((one) => !notInBundle.test(one))) {
    cpSync(join(root, path), join(folder, path))
  }
  const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`
  writeFileSync(join(folder, 'manifest.json'), json(mcpbManifest(info)))
  // Without it Node.js would try to read the program as CommonJS first.
  const { name, version, license } = info
  writeFileSync(join(folder, 'package.json'), json({ name, version, license, type: 'module' }))
  writeFileSync(join(folder, 'icon.png'), iconPng())
}

/** A packed bundle. */
export interface Bundle {
  readonly file: string
  readonly bytes: number
  readonly sha256: string
}

/** Packs the bundle of a folder into another with @anthropic-ai/mcpb, which validates it. */
export function packBundle({ name, version }: PackageInfo, folder: string, out: string): Bundle {
  installOnce(toolsFolder)
  mcpb('validate', join(folder, 'manifest.json'))
  const file = join(out, `${name}-${version}.mcpb`)
  mcpb('pack', folder, file)
  return { file, bytes: statSync(file).size, sha256: sha256Of(file) }
}

/** What a desktop client starts, by its manifest and the answers of a person. */
const McpConfig = z.object({
  command: z.literal('node'),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()),
})
type GetMcpConfig = (options: {
  manifest: unknown
  extensionPath: string
  systemDirs: Record<string, string>
  userConfig: Record<string, unknown>
  pathSeparator: string
}) => Promise<unknown>
const Mcpb = z.object({
  getMcpConfigForManifest: z.custom<GetMcpConfig>((value) => typeof value === 'function'),
})

/** How a desktop client starts an unpacked bundle with these answers. */
async function launchWith(folder: string, userConfig: Record<string, unknown>): Promise<Launch> {
  const path = createRequire(join(toolsFolder, 'package.json')).resolve('@anthropic-ai/mcpb/node')
  const { getMcpConfigForManifest } = Mcpb.parse({ ...(await import(pathToFileURL(path).href)) })
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
 * Unpacks a bundle and runs it as a desktop client does: with options that are not filled in, with
 * options that are empty, and with the key of an account. Throws where one does not work.
 */
export async function tryBundle({ file }: Bundle, folder: string): Promise<void> {
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
