import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import packageJson from '../../package.json' with { type: 'json' }
import { initializedVersions, toolSummaries } from '../server/tool-summaries.ts'
import { buildViews } from './build-views.ts'
import { keepClassNames, oneStartPart, replaceModules } from './bundle-plugins.ts'
import { licences } from './licences.ts'

/*
 * npm run build [-- --if-needed]: makes dist/, one bundle with its lazily loaded parts beside it and
 * the licences of everything in it. It has no runtime dependencies. Libraries are imported by their
 * public entry points, and no module of theirs is replaced, so that the bundle behaves as the source.
 */

const root = join(import.meta.dirname, '../..')
const outdir = join(root, 'dist')

if (process.argv.includes('--if-needed') && isCurrent()) process.exit(0)

/**
 * Two modules are replaced by their results: computing them would delay each start. The third names
 * the folder of the views as the parts of the bundle see it.
 */
const replaced = replaceModules(root, {
  // Scripts and the names of packages for developers are of no use in the program.
  'package.json': JSON.stringify({ name: packageJson.name, version: packageJson.version }),
  'src/server/tool-summaries.ts': Object.entries({ toolSummaries, initializedVersions })
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
    .join('\n'),
  'src/apps/views-folder.ts': `import { join } from 'node:path'
export const viewsFolder = join(import.meta.dirname, '../apps')`,
  'src/tool/prebuilt-listed-tools.ts': `import { toolSummaries } from '../server/tool-summaries.ts'
export const prebuiltListedTools = Object.fromEntries(
  toolSummaries.map(({ name, listed }) => [name, JSON.parse(listed)]),
)`,
})

rmSync(outdir, { recursive: true, force: true })
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: { 'voice-agent-mcp': 'src/bin.ts' },
  outdir,
  bundle: true,
  splitting: true,
  chunkNames: 'parts/[name]-[hash]',
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  minify: true,
  // THIRD-PARTY-LICENSES.txt has them.
  legalComments: 'none',
  sourcemap: 'external',
  metafile: true,
  // What the package names as its main file loads its parts in a way that cannot be bundled.
  alias: { 'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js') },
  plugins: [
    replaced,
    keepClassNames('oidc-provider'),
    oneStartPart(root, 'src/cli/main.ts', ['src/cli/compile-cache-folder.ts']),
  ],
  // undici is CommonJS and requires Node's own modules.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
})
// A file of which esbuild uses nothing needs no licence.
const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
)
const inViews = await buildViews(root, join(outdir, 'apps'))
chmodSync(join(outdir, 'voice-agent-mcp.js'), 0o755)
writeFileSync(join(outdir, 'THIRD-PARTY-LICENSES.txt'), licences(root, [...bundled, ...inViews]))

const bytes = Object.entries(metafile.outputs)
  .filter(([file]) => file.endsWith('.js'))
  .reduce((sum, [, output]) => sum + output.bytes, 0)
process.stdout.write(`dist/voice-agent-mcp.js and its parts: ${Math.round(bytes / 1024)} kB\n`)

/** True when the bundle is newer than everything it is made of. */
function isCurrent(): boolean {
  const bundle = join(outdir, 'voice-agent-mcp.js')
  if (!existsSync(bundle)) return false
  const built = statSync(bundle).mtimeMs
  const sources = ['src', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  return [...sources, join(root, 'package.json'), join(root, 'package-lock.json')].every(
    (file) => statSync(file).mtimeMs <= built,
  )
}
