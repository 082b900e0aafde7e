import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { readScript } from '../script-arguments.ts'
import { packBundle, tryBundle, writeBundle } from './desktop-bundle.ts'
import { installPackage, maxBytes, packPackage, releaseFolder } from './npm-package.ts'
import {
  downloadUrl,
  type PackageInfo,
  readPackage,
  repositoryAt,
  root,
  sha256Of,
} from './package-info.ts'
import { writePlugin } from './plugins.ts'
import { preconditions } from './preconditions.ts'
import { SchemaUnavailable, schemaFaults, serverJson, serverJsonSchemaUrl } from './server-json.ts'
import { type Outcome, type Result, runSteps, type Step } from './steps.ts'
import { tryProgram } from './try-program.ts'

const usage = `Builds and tries the artifacts of a release, and prints the remaining steps. It publishes nothing.

npm run release -- [--dry-run] [--schema URL]

  --dry-run  open preconditions are no failure, and npm run check is left out
  --schema   URL of the schema of server.json, instead of its published URL

Exits with 0 if the release can be published, with 1 if a precondition is open or a step has failed.
`

const { flags } = readScript(usage, { 'dry-run': false, schema: serverJsonSchemaUrl })

const write = (text: string) => void process.stdout.write(text)
const { 'dry-run': isDryRun, schema } = flags

/** Runs the release; returns the exit code. */
async function release(info: PackageInfo): Promise<number> {
  write(`${info.name} ${info.version}${isDryRun ? ', dry run' : ''}\n\n`)
  const scratch = mkdtempSync(join(tmpdir(), 'voice-agent-mcp-release-'))
  const isReady = (results: readonly Result[]) =>
    !results.includes('failed') && (isDryRun || !results.includes('open'))
  try {
    const prepared = await runSteps(preconditions(info), write)
    // Open steps are reported before the checks, which take half an hour.
    if (!isReady(prepared)) return notReady()
    const made = await runSteps([checked, ...artifacts(info, scratch)], write)
    if (!isReady(made)) return notReady()
    if (!isDryRun || ![...prepared, ...made].includes('open')) write(nextSteps(info))
    else write('\nThe dry run has passed. Before a release, do what is marked with !.\n')
    return 0
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function notReady(): number {
  write('\nNot ready to be released.\n')
  return 1
}

const checked: Step = {
  title: 'npm run check',
  run() {
    if (isDryRun) return { state: 'left out', text: 'CI runs it, including this dry run' }
    execFileSync('npm', ['run', 'check'], {
      cwd: root,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    })
    return { state: 'done', text: 'passed' }
  },
}

/**
 * The manual steps that follow, in order: the MCP registry needs the published package and bundle.
 */
function nextSteps(info: PackageInfo): string {
  const { name, version } = info
  const files = `dist/release/${name}-${version}`
  const url = downloadUrl(info, `${name}-${version}.mcpb`)
  return `
What a person does next (docs/releasing.md):
  1. Tag this commit v${version}, if it is not yet, and push the tag
  2. npm publish ${files}.tgz
  3. Make a release of the tag with ${files}.mcpb and SHA256SUMS${url === undefined ? '' : `, so that\n     ${url} leads to it`}
  4. mcp-publisher publish dist/release/server.json
  5. Commit dist/release/plugin to the repository of the plugin
`
}

const shown = (file: string) => relative(root, file)
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`

/**
 * Builds the release's artifacts in `dist/release` and tries them from there. `scratch`: an empty
 * folder.
 */
function artifacts(info: PackageInfo, scratch: string): Step[] {
  let tarball = ''
  let paths: readonly string[] = []
  let bundle = ''
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
          `${shown(file)}, ${files.length} files, ${megabytes(unpackedSize)} unpacked of at most ${megabytes(maxBytes)}`,
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
        return done(`${shown(bundle)}, ${megabytes(statSync(bundle).size)}, its manifest is valid`)
      },
    },
    {
      title: 'Desktop bundle, unpacked',
      async run() {
        await tryBundle(bundle, folder('unpacked'))
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
    { title: 'Entry in the MCP registry', run: () => registryEntry(info, bundle) },
    { title: 'Checksums', run: () => checksums([tarball, bundle]) },
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

/** Writes server.json. Without a repository URL, only tries the steps with a made-up URL. */
async function registryEntry(info: PackageInfo, bundle: string): Promise<Outcome> {
  const isNamed = info.mcpName !== undefined && info.repository !== undefined
  const named = isNamed ? info : withStandIn(info)
  const url = downloadUrl(named, basename(bundle))
  const entry = serverJson(named, url === undefined ? undefined : { url, sha256: sha256Of(bundle) })
  const path = join(releaseFolder, 'server.json')
  if (isNamed) writeFileSync(path, `${JSON.stringify(entry, undefined, 2)}\n`)
  const what = isNamed
    ? shown(path)
    : 'not written, because package.json has no repository; with a made-up one'
  try {
    const faults = await schemaFaults(schema, entry)
    if (faults.length > 0) throw new Error(`not valid: ${faults.join('; ')}`)
  } catch (error) {
    if (!(error instanceof SchemaUnavailable)) throw error
    return { state: 'open', text: `${what}, not compared with its schema; ${error.message}` }
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

process.exitCode = await release(readPackage(root))
