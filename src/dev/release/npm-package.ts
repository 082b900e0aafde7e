import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { viewNames } from '../../apps/views.ts'
import { root } from './package-info.ts'

/** Folder of a release's files. The next build removes this folder. */
export const releaseFolder = join(root, 'dist/release')

/** Required contents besides the program and its documents. */
const needed = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'dist/voice-agent-mcp.js',
  'dist/THIRD-PARTY-LICENSES.txt',
  ...viewNames.map((name) => `dist/apps/${name}.html.br`),
]
/** Excluded: sources, tests, other build output, and machine-specific files. */
const notPublished =
  /^(?:src|test|tools)\/|(?:^|\/)(?:node_modules\/|\.)|\.(?:map|tgz|mcpb|db|log)$/
/** Maximum unpacked size of the package, bytes. */
export const maxBytes = 4_500_000

const Packed = z.tuple([
  z.object({
    filename: z.string(),
    size: z.number(),
    unpackedSize: z.number(),
    files: z.array(z.object({ path: z.string() })),
  }),
])
export type Packed = z.output<typeof Packed>[0]

/** On Windows npm is a batch file, which needs a shell. */
const shell = process.platform === 'win32'

/**
 * Packs the built package into `dist/release`. `file`: path of the package. Throws if the package
 * must not be published.
 */
export function packPackage(): Packed & { readonly file: string } {
  mkdirSync(releaseFolder, { recursive: true })
  const packed = npmPack(`--pack-destination=${releaseFolder}`)
  const fault = faultOf(packed)
  if (fault !== undefined) throw new Error(fault)
  return { ...packed, file: join(releaseFolder, packed.filename) }
}

/** Result of `npm pack`, also with `--dry-run`. */
export function npmPack(option: string): Packed {
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', option]
  const out = execFileSync('npm', args, { cwd: root, shell, encoding: 'utf8' })
  return Packed.parse(JSON.parse(out))[0]
}

/** Why a package cannot be published; `undefined` if it can. */
export function faultOf({
  files,
  unpackedSize,
}: Pick<Packed, 'files' | 'unpackedSize'>): string | undefined {
  const paths = files.map(({ path }) => path)
  const missing = needed.filter((path) => !paths.includes(path))
  if (missing.length > 0) return `The package lacks ${missing.join(', ')}.`
  const unwanted = paths.filter((path) => notPublished.test(path))
  if (unwanted.length > 0) return `The package holds ${unwanted.join(', ')}.`
  if (unpackedSize > maxBytes) return `The package has ${unpackedSize} bytes, over ${maxBytes}.`
  return undefined
}

/**
 * Installs a packed package into an empty folder, offline, because it has no dependencies. Returns
 * the command that a user then has.
 */
export function installPackage(file: string, folder: string, name: string): readonly string[] {
  const args = ['install', file, '--offline', '--no-audit', '--no-fund', '--loglevel=error']
  execFileSync('npm', args, {
    cwd: folder,
    shell,
    stdio: ['ignore', 'ignore', 'inherit'],
    // Without this setting npm would install into a parent folder that has a package.json.
    env: {
      ...process.env,
      npm_config_prefix: undefined,
      npm_config_local_prefix: folder,
      INIT_CWD: folder,
    },
  })
  const link = join(folder, 'node_modules/.bin', name)
  if (process.platform !== 'win32') return [link]
  if (!existsSync(`${link}.cmd`)) throw new Error(`npm has made no ${link}.cmd`)
  return [process.execPath, join(folder, 'node_modules', name, 'dist/voice-agent-mcp.js')]
}
