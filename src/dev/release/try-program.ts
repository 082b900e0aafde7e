import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import * as z from 'zod'
import { cleanEnv, startProcess } from '../../../test/harness/program.ts'
import { tools } from '../../../tools/index.ts'
import { viewExtension, viewMimeType, viewNames, viewUri } from '../../apps/views.ts'
import { sandboxKeys } from '../../sandbox/seed.ts'

/** A command and its environment. */
export interface Launch {
  readonly command: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** An environment without data of the user who runs this script. */
const strangerEnv = (home: string, extra: Readonly<Record<string, string>> = {}) =>
  cleanEnv({
    HOME: home,
    USERPROFILE: home,
    APPDATA: join(home, 'AppData/Roaming'),
    LOCALAPPDATA: join(home, 'AppData/Local'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    ...extra,
  })

/**
 * Tries an installed program as a new user would: version, stdio, the sandbox as a platform, stdio
 * with an account of that sandbox, and HTTP. Throws on the first failure.
 */
export async function tryProgram(launch: Launch, version: string, home: string): Promise<void> {
  const [file = '', ...args] = launch.command
  const shown = spawnSync(file, [...args, '--version'], {
    encoding: 'utf8',
    env: strangerEnv(home),
  })
  assert.equal(shown.stdout, `${version}\n`, shown.stderr)
  assert.equal(await accountOver(launch, home), 'Sandbox account')
  await withSandbox(launch, home, async (url) => {
    const env = { VOICE_AGENT_BASE_URL: url, VOICE_AGENT_API_KEY: sandboxKeys.main }
    assert.equal(await accountOver({ ...launch, env }, home), 'Sandbox account')
  })
  await tryHttp(launch, home)
}

/** Runs the program's sandbox as a platform during `use`; `url`: its address. */
export async function withSandbox<T>(
  { command }: Launch,
  home: string,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const env = strangerEnv(home, { VOICE_AGENT_SANDBOX_DB: ':memory:' })
  await using program = startProcess([...command, 'sandbox', '--port', '0'], env)
  const [, url = ''] = await program.waitFor(/sandbox API at (\S+)\/v1/)
  return await use(url)
}

/** Name of the program's account over stdio. */
export async function accountOver({ command, env }: Launch, home: string): Promise<string> {
  const [file = '', ...args] = command
  const transport = new StdioClientTransport({
    command: file,
    args,
    env: strangerEnv(home, env),
    cwd: home,
    stderr: 'ignore',
  })
  return await accountWith(transport)
}

async function tryHttp({ command }: Launch, home: string): Promise<void> {
  await using program = startProcess([...command, 'http', '--port', '0'], strangerEnv(home))
  const [, url = ''] = await program.waitFor(/Serving MCP at ([^\s"]+)/)
  assert.equal(
    await accountWith(new StreamableHTTPClientTransport(new URL(url))),
    'Sandbox account',
  )
  program.process.kill('SIGTERM')
  assert.equal(await program.exited, process.platform === 'win32' ? null : 0)
}

/**
 * Lists the tools and reads every resource, including views, to detect files missing from the
 * package.
 */
async function accountWith(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
): Promise<string> {
  const capabilities = { extensions: { [viewExtension]: { mimeTypes: [viewMimeType] } } }
  const client = new Client({ name: 'release', version: '1' }, { capabilities })
  await client.connect(transport)
  try {
    assert.equal((await client.listTools()).tools.length, tools.length)
    const { resources } = await client.listResources()
    assert.ok(viewNames.every((name) => resources.some(({ uri }) => uri === viewUri(name))))
    for (const { uri } of resources) {
      assert.notEqual((await client.readResource({ uri })).contents.length, 0, uri)
    }
    const { structuredContent } = await client.callTool({ name: 'get_current_account' })
    return z.object({ name: z.string() }).parse(structuredContent).name
  } finally {
    await client.close()
  }
}
