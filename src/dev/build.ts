import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { cards, initializedVersions } from '../cards.ts'
import { licences } from './licences.ts'

/*
 * Makes dist/: one bundle with its lazily loaded parts beside it, no runtime dependencies, and
 * the licences of everything that went in.
 */

const root = join(import.meta.dirname, '../..')
const outdir = join(root, 'dist')

if (process.argv.includes('--if-needed') && isCurrent()) process.exit(0)

/** Puts results in the place of what works them out, where that takes longer than is waited for. */
const withResults: Plugin = {
  name: 'results',
  setup({ onLoad }) {
    const results = { cards, initializedVersions }
    onLoad({ filter: /src[\\/]cards\.ts$/ }, () => ({
      contents: Object.entries(results)
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`)
        .join('\n'),
      loader: 'js',
    }))
    onLoad({ filter: /src[\\/]mcp[\\/]listings\.ts$/ }, () => ({
      contents: `import { cards } from '../cards.ts'
export const listings = Object.fromEntries(
  cards.map(({ name, listed }) => [name, JSON.parse(listed)]),
)`,
      loader: 'js',
    }))
  },
}

/**
 * Leaves out what nobody here uses of undici, half of it: its entry point brings fetch, WebSocket,
 * mocks and caches along, and one of its files an HTTP parser that is an experiment.
 */
const withLeanUndici: Plugin = {
  name: 'lean-undici',
  setup({ onResolve, onLoad }) {
    const lean = { path: 'undici', namespace: 'lean' }
    onResolve({ filter: /^undici$/ }, () => lean)
    onLoad({ filter: /^undici$/, namespace: 'lean' }, () => ({
      contents: `
export { default as Agent } from 'undici/lib/dispatcher/agent.js'
export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js'`,
      resolveDir: root,
    }))
    onLoad({ filter: /undici[\\/]lib[\\/]milo[\\/]/ }, () => ({
      contents: `throw new Error('The parser Milo is not in this bundle')`,
    }))
  },
}

/**
 * Takes modules of Node's that cost much more imported than asked for: an import reads every export,
 * among them those that load what they stand for. With process comes all that hangs on it, before
 * the first line; with http a WebSocket, and with it a second undici, a third of an empty process.
 */
const withPlainBuiltins: Plugin = {
  name: 'plain-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?(process|http)$/, namespace: 'file' }, ({ path }) => ({
      path: path.replace('node:', ''),
      namespace: 'plain',
    }))
    const plain: Record<string, string> = {
      process: 'globalThis.process',
      http: `process.getBuiltinModule('http')`,
    }
    onLoad({ filter: /^/, namespace: 'plain' }, ({ path }) => ({
      contents: `module.exports = ${plain[path]}`,
    }))
  },
}

/** Packs the metadata of telephone numbers, a tenth of the bundle, which are read with the first. */
const withPackedMetadata: Plugin = {
  name: 'packed-metadata',
  setup({ onLoad }) {
    onLoad({ filter: /libphonenumber-js[\\/]metadata\.max\.json\.js$/ }, async ({ path }) => {
      const { default: metadata } = await import(path)
      const packed = deflateRawSync(JSON.stringify(metadata), { level: 9 }).toString('base64')
      return {
        contents: `
import { inflateRawSync } from 'node:zlib'
export default JSON.parse(inflateRawSync(Buffer.from('${packed}', 'base64')).toString())`,
      }
    })
  },
}

/** Leaves out the SDK's own validator: the server is given another (src/mcp/validator.ts). */
const withoutAjv: Plugin = {
  name: 'without-ajv',
  setup({ onLoad }) {
    onLoad({ filter: /ajvProvider-\w+\.mjs$/ }, () => ({
      contents: `
const missing = class { constructor() { throw new Error('This validator is not in the bundle') } }
export { missing as t, missing as n }`,
    }))
  },
}

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
  // They stand in THIRD-PARTY-LICENSES.txt.
  legalComments: 'none',
  sourcemap: 'external',
  metafile: true,
  plugins: [withResults, withPlainBuiltins, withLeanUndici, withoutAjv, withPackedMetadata],
  // undici is CommonJS and requires Node's own modules.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
})
// What was left out needs no licence.
const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([file, { bytesInOutput }]) =>
    bytesInOutput > 0 && !/lib.milo|ajvProvider/.test(file) ? [file] : [],
  ),
)
chmodSync(join(outdir, 'voice-agent-mcp.js'), 0o755)
writeFileSync(join(outdir, 'THIRD-PARTY-LICENSES.txt'), licences(root, bundled))

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
