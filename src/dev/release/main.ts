import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readScript } from '../script.ts'
import { artifacts } from './artifacts.ts'
import { downloadUrl, type PackageInfo, readPackage, root, setRepository } from './package-info.ts'
import { preparation, type Result, runSteps, type Step } from './preparation.ts'
import { serverJsonSchemaUrl } from './server-json.ts'

const usage = `Makes what is released, tries it, and says what is left to do. It publishes nothing.

npm run release -- [--dry-run] [--schema URL]
npm run release -- --repository URL [--mcp-name NAME]

  --dry-run     what is open does not fail, and npm run check is left out
  --schema      where the schema of server.json is, in place of its published address
  --repository  only writes the address of the repository into package.json, and what follows from it
  --mcp-name    with it: the name in the MCP registry, where the repository is not on GitHub

Ends with 0 when nothing is left to do before publishing, with 1 when something is, or has failed.
`

const { flags } = readScript(usage, {
  'dry-run': false,
  schema: serverJsonSchemaUrl,
  repository: undefined,
  'mcp-name': undefined,
})

const write = (text: string) => void process.stdout.write(text)
const { 'dry-run': isDryRun, schema, repository, 'mcp-name': mcpName } = flags

function changePackage(address: string): void {
  try {
    setRepository(root, address, mcpName)
    write('package.json has the address of the repository now. Commit it.\n')
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}

/** The exit code. */
async function release(info: PackageInfo): Promise<number> {
  write(`${info.name} ${info.version}${isDryRun ? ', dry run' : ''}\n\n`)
  const scratch = mkdtempSync(join(tmpdir(), 'voice-agent-mcp-release-'))
  const isReady = (results: readonly Result[]) =>
    !results.includes('failed') && (isDryRun || !results.includes('open'))
  try {
    const prepared = await runSteps(preparation(info), write)
    // What is open is said at once, not after half an hour of checks.
    if (!isReady(prepared)) return notReady()
    const made = await runSteps([checked, ...artifacts(info, scratch, schema)], write)
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
    if (isDryRun) return { state: 'left out', text: 'CI runs it, with this dry run in it' }
    execFileSync('npm', ['run', 'check'], {
      cwd: root,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    })
    return { state: 'done', text: 'passed' }
  },
}

/** What a person does with the files, in order: the registry reads the package and the bundle. */
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

if (repository !== undefined) changePackage(repository)
else process.exitCode = await release(readPackage(root))
