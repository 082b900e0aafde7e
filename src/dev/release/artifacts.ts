import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { type Bundle, packBundle, tryBundle, writeBundle } from './bundle.ts'
import { installPackage, mostBytes, packPackage, releaseFolder } from './npm-package.ts'
import { downloadUrl, type PackageInfo, repositoryAt, root, sha256Of } from './package-info.ts'
import { writePlugin } from './plugins.ts'
import type { Outcome, Step } from './preparation.ts'
import { SchemaUnavailable, ServerJson, schemaFaults, serverJson } from './server-json.ts'
import { tryProgram } from './try-program.ts'

const shown = (file: string) => relative(root, file)
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`

/**
 * What is made for a release, in `dist/release`, and tried from there. `scratch`: an empty folder;
 * `schemaUrl`: where the schema of server.json is.
 */
export function artifacts(info: PackageInfo, scratch: string, schemaUrl: string): Step[] {
  let tarball = ''
  let paths: readonly string[] = []
  let bundle: Bundle | undefined
  const madeBundle = () => {
    if (!bundle) throw new Error('there is no bundle')
    return bundle
  }
  const folder = (name: string) => {
    const path = join(scratch, name)
    mkdirSync(path)
    return path
  }
  return [
    { title: 'Build', run: build },
    {
      title: 'Package',
      run() {
        const { file, unpackedSize, files } = packPackage()
        tarball = file
        paths = files.map(({ path }) => path)
        return done(
          `${shown(file)}, ${files.length} files, ${megabytes(unpackedSize)} unpacked of at most ${megabytes(mostBytes)}`,
        )
      },
    },
    {
      title: 'Package, installed into an empty folder',
      async run() {
        const command = installPackage(tarball, folder('installed'), info.name)
        await tryProgram({ command }, info.version, folder('home'))
        return done('--version, stdio, sandbox and http work')
      },
    },
    {
      title: 'Desktop bundle',
      run() {
        const content = folder('bundle')
        writeBundle(info, paths, content)
        bundle = packBundle(info, content, releaseFolder)
        return done(`${shown(bundle.file)}, ${megabytes(bundle.bytes)}, its manifest is valid`)
      },
    },
    {
      title: 'Desktop bundle, unpacked',
      async run() {
        await tryBundle(madeBundle(), folder('unpacked'))
        return done('works with options not filled in, empty, and with a key')
      },
    },
    {
      title: 'Plugin for terminal assistants',
      run() {
        const path = join(releaseFolder, 'plugin')
        writePlugin(info, path)
        return done(shown(path))
      },
    },
    { title: 'Entry in the MCP registry', run: () => registryEntry(info, madeBundle(), schemaUrl) },
    { title: 'Checksums', run: () => checksums([tarball, madeBundle().file]) },
  ]
}

const done = (text: string): Outcome => ({ state: 'done', text })

function build(): Outcome {
  const script = join(root, 'src/dev/build.ts')
  execFileSync(process.execPath, [script, '--if-needed'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return done('dist/ is up to date')
}

/** Writes server.json; without an address of the repository it is only tried, with a made-up one. */
async function registryEntry(
  info: PackageInfo,
  { file, sha256 }: Bundle,
  schemaUrl: string,
): Promise<Outcome> {
  const isNamed = info.mcpName !== undefined && info.repository !== undefined
  const named = isNamed ? info : withStandIn(info)
  const url = downloadUrl(named, basename(file))
  const entry = serverJson(named, url === undefined ? undefined : { url, sha256 })
  ServerJson.parse(entry)
  const path = join(releaseFolder, 'server.json')
  if (isNamed) writeFileSync(path, `${JSON.stringify(entry, undefined, 2)}\n`)
  const what = isNamed
    ? shown(path)
    : 'not written, because the address of the repository is not set; with another'
  try {
    const faults = await schemaFaults(schemaUrl, entry)
    if (faults.length > 0) throw new Error(`not valid: ${faults.join('; ')}`)
  } catch (error) {
    if (!(error instanceof SchemaUnavailable)) throw error
    return { state: 'open', text: `${what}, valid by our own rules; ${error.message}` }
  }
  return { state: isNamed ? 'done' : 'open', text: `${what}, valid by the published schema` }
}

const withStandIn = (info: PackageInfo): PackageInfo => ({
  ...info,
  mcpName: `io.github.owner/${info.name}`,
  repository: repositoryAt('https://github.com/owner/repository'),
})

function checksums(files: readonly string[]): Outcome {
  const lines = files.map((file) => `${sha256Of(file)}  ${basename(file)}\n`)
  const path = join(releaseFolder, 'SHA256SUMS')
  writeFileSync(path, lines.join(''))
  return done(shown(path))
}
