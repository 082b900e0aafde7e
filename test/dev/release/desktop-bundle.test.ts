import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { packBundle, tryBundle, writeBundle } from '../../../src/dev/release/desktop-bundle.ts'
import { npmPack } from '../../../src/dev/release/npm-package.ts'
import { readPackage, root } from '../../../src/dev/release/package-info.ts'
import { tryProgram } from '../../../src/dev/release/try-program.ts'
import { bin, scratchFolder } from '../../harness/program.ts'

/* The release script must reject a bundle or package that does not work. */

const info = readPackage(root)
const paths = npmPack('--dry-run').files.map(({ path }) => path)
const Manifest = z.looseObject({
  server: z.looseObject({
    mcp_config: z.looseObject({ env: z.record(z.string(), z.string()) }),
  }),
})
type Manifest = z.output<typeof Manifest>

/** Checks a bundle whose files `spoil` has changed. */
async function tryBundleWith(spoil: (folder: string) => void): Promise<void> {
  using folder = scratchFolder()
  const [content, trial] = [join(folder.path, 'content'), join(folder.path, 'trial')]
  mkdirSync(trial)
  writeBundle(info, paths, content)
  spoil(content)
  await tryBundle(packBundle(info, content, folder.path), trial)
}

const withManifest = (change: (manifest: Manifest) => void) => (folder: string) => {
  const file = join(folder, 'manifest.json')
  const manifest = Manifest.parse(JSON.parse(readFileSync(file, 'utf8')))
  change(manifest)
  writeFileSync(file, JSON.stringify(manifest))
}

test('a bundle as it is works', async () => {
  await tryBundleWith(() => undefined)
}, 60_000)

test.each<[string, (folder: string) => void, RegExp]>([
  [
    'with a field that the format does not have',
    withManifest((manifest) => {
      manifest.colour = 'blue'
    }),
    /mcpb validate: .*[\s\S]*colour/,
  ],
  ['with a picture that is none', (folder) => writeFileSync(join(folder, 'icon.png'), ''), /PNG/],
  [
    'without a part of the program',
    (folder) => rmSync(join(folder, 'dist/parts'), { recursive: true }),
    /./,
  ],
  [
    'without the views',
    (folder) => rmSync(join(folder, 'dist/apps'), { recursive: true }),
    /usage\.html/,
  ],
  [
    'whose key does not reach the program',
    withManifest(({ server }) => {
      delete server.mcp_config.env.VOICE_AGENT_API_KEY
    }),
    /api_key/,
  ],
  [
    'whose address does not reach the program',
    withManifest(({ server }) => {
      delete server.mcp_config.env.VOICE_AGENT_BASE_URL
    }),
    /./,
  ],
])('a bundle %s is found out', { timeout: 60_000 }, async (_, spoil, message) => {
  await expect(tryBundleWith(spoil)).rejects.toThrow(message)
})

test('a program of another version is found out', async () => {
  using folder = scratchFolder()
  const launch = { command: [process.execPath, bin] }
  await expect(tryProgram(launch, '99.0.0', folder.path)).rejects.toThrow('99.0.0')
  await tryProgram(launch, info.version, folder.path)
}, 60_000)
