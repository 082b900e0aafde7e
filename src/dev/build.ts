import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { build, type Metafile, type Plugin, transform } from 'esbuild'
import packageJson from '../../package.json' with { type: 'json' }
import { agentDefaults } from '../apps/browser/agent/agent-defaults.ts'
import { checkboxStyle, designBase, designTokens } from '../apps/design.ts'
import { inline } from '../apps/pages/page.ts'
import { viewNames, viewTitles } from '../apps/views.ts'
import { initializedVersions, toolSummaries } from '../server/tool-summaries.ts'
import { licences } from './licences.ts'

/*
 * npm run build [-- --if-needed]: builds dist/, a bundle with lazily loaded parts and the licences
 * of its contents. It has no runtime dependencies. Libraries are imported by their public entry
 * points, and none of their modules is replaced, so the bundle behaves like the source.
 */

const root = join(import.meta.dirname, '../..')
const outdir = join(root, 'dist')

/**
 * Modules replaced by their exports, computed at build time: computing them at every start is slow.
 */
const replacements = {
  // The program reads only name and version.
  'package.json': JSON.stringify({ name: packageJson.name, version: packageJson.version }),
  'src/server/tool-summaries.ts': Object.entries({ toolSummaries, initializedVersions })
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
    .join('\n'),
  'src/tool/prebuilt-listed-tools.ts': `import { toolSummaries } from '../server/tool-summaries.ts'
export const prebuiltListedTools = Object.fromEntries(
  toolSummaries.map(({ name, listed }) => [name, JSON.parse(listed)]),
)`,
}

async function buildProgram(): Promise<void> {
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
    // Collected in THIRD-PARTY-LICENSES.txt.
    legalComments: 'none',
    sourcemap: 'external',
    metafile: true,
    // The package's main file loads its parts in a way that cannot be bundled.
    alias: { 'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js') },
    plugins: [replaceModules(root, replacements), keepClassNames, oneStartPart],
    // Defines `require` for undici, which is CommonJS and loads Node's built-in modules with it.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
  })
  const inViews = await buildViews(join(outdir, 'apps'))
  chmodSync(join(outdir, 'voice-agent-mcp.js'), 0o755)
  writeFileSync(
    join(outdir, 'THIRD-PARTY-LICENSES.txt'),
    licences(root, [...usedFiles(metafile), ...inViews]),
  )

  const bytes = Object.entries(metafile.outputs)
    .filter(([file]) => file.endsWith('.js'))
    .reduce((sum, [, output]) => sum + output.bytes, 0)
  process.stdout.write(`dist/voice-agent-mcp.js and its parts: ${Math.round(bytes / 1024)} kB\n`)
}

/** Source files with code in the bundle. Files without code in it need no licence. */
const usedFiles = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [file] : [],
    ),
  )

/** True if the bundle is newer than all its sources. */
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

/**
 * Builds each view as one HTML file with inline style and script, the only ones that its policy
 * allows. Compressed, the files are smaller than with shared scripts. Returns the paths of all
 * sources.
 */
async function buildViews(folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true })
  const inputs = await Promise.all(
    viewNames.map(async (name) => {
      const { script, style, files } = await bundledView(name)
      const html = pageOf({ title: viewTitles[name].title, script, style })
      writeFileSync(join(folder, `${name}.html.br`), compressed(html))
      return files
    }),
  )
  return [...new Set(inputs.flat())]
}

/** Browsers with light-dark(). */
const target = ['chrome123', 'firefox120', 'safari17.5']

/**
 * Modules of a view replaced by their computed exports, because the contract's schemas are large.
 */
const viewReplacements: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agent: {
    'src/apps/browser/agent/agent-defaults.ts': `export const agentDefaults = ${JSON.stringify(agentDefaults)}`,
  },
}

/** Styles of controls that not every view has. */
const controlStyles: Readonly<Record<string, string>> = { voices: checkboxStyle }

async function bundledView(name: string) {
  const folder = join('src/apps/browser', name)
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join(folder, 'view.ts'), join(folder, 'view.css')],
    outdir: 'out',
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    platform: 'browser',
    target,
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    plugins: [replaceModules(root, viewReplacements[name] ?? {})],
  })
  const textOf = (ending: string) =>
    outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? ''
  // esbuild keeps the spaces in custom properties.
  const tokens = designTokens.replaceAll(/(?<=[:,]) /g, '')
  const base = tokens + designBase + (controlStyles[name] ?? '')
  const design = await transform(base, { loader: 'css', minify: true, target })
  const style = design.code.trim() + textOf('.css')
  return { script: textOf('.js'), style, files: usedFiles(metafile) }
}

function pageOf({ title, script, style }: { title: string; script: string; style: string }) {
  if (/<\/(script|style)/i.test(script + style))
    throw new Error(`The style or script of the view ${title} holds its own end tag`)
  const policy = [
    "default-src 'none'",
    `script-src ${inline(script).source}`,
    `style-src ${inline(style).source}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<script>${script}</script>
</body>
</html>
`
}

const compressed = (text: string) =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })

/**
 * An esbuild plugin that replaces the contents of modules, given by their paths below `root`. The
 * build fails if a module is missing or not part of the bundle. Otherwise a moved module would be
 * bundled unreplaced.
 */
export function replaceModules(root: string, contents: Readonly<Record<string, string>>): Plugin {
  const byPath = new Map(Object.entries(contents).map(([path, text]) => [join(root, path), text]))
  return {
    name: 'replace-modules',
    setup({ onLoad, onEnd }) {
      const replaced = new Set<string>()
      onLoad({ filter: /\.(?:[cm]?[jt]s|json)$/ }, ({ path }) => {
        const text = byPath.get(path)
        if (text === undefined) return undefined
        replaced.add(path)
        return { contents: text, loader: path.endsWith('.json') ? 'json' : 'js' }
      })
      onEnd(() => ({
        errors: [...byPath.keys()]
          .filter((path) => !replaced.has(path))
          .map((path) => ({
            text: existsSync(path)
              ? `${path} was to be replaced, but nothing in the bundle imports it`
              : `${path} was to be replaced, but there is no such file`,
          })),
      }))
    },
  }
}

/** Keeps the class names of oidc-provider, which stores records under its models' names. */
const keepClassNames: Plugin = {
  name: 'keep-class-names',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/]oidc-provider[\\/].*\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const { code } = await transform(source, { keepNames: true, sourcefile: path })
      return { contents: code, loader: 'js' }
    })
  },
}

/** The main module of every start. */
const main = join(root, 'src/cli/main.ts')

/**
 * Lazily loaded modules that do not load `main` first: `main` itself, and the module that
 * `src/bin.ts` loads before it.
 */
const early = [main, join(root, 'src/state/private-files.ts')]

/**
 * Puts everything that a start loads into one chunk, by importing `main` into each lazily loaded
 * module. Otherwise esbuild makes a chunk for each set of modules with shared imports, and a start
 * opens all of them.
 */
const oneStartPart: Plugin = {
  name: 'one-start-part',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\..*\.ts$/ }, ({ kind, resolveDir, path }) => {
      const file = join(resolveDir, path)
      return kind === 'dynamic-import' && !early.includes(file)
        ? { path: file, namespace: 'late' }
        : undefined
    })
    onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({
      contents: `import ${JSON.stringify(main)}\nexport * from ${JSON.stringify(path)}`,
      resolveDir: dirname(path),
    }))
  },
}

if (import.meta.main && !(process.argv.includes('--if-needed') && isCurrent())) await buildProgram()
