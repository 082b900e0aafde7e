import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { seedIds } from '../../../src/sandbox/seed.ts'
import { freePort, type Program } from '../../harness/program.ts'
import { sendRefused } from '../../harness/rpc.ts'
import { callBuiltTool, StdioClient } from '../measure/clients.ts'
import { type Attack, eventually, type Scenario } from './attack.ts'

/** Every write to /dev/full fails as on a full disk (full(4)). */
const fullDisk = 'exec 2>/dev/full'

export const unwritableLog: Scenario = {
  name: 'unwritable-log',
  point: 'The log cannot be written: the disk is full, or the reader of the pipe has closed it.',
  guarantee: 'The server keeps running, over HTTP and over stdio, and stops on request.',
  async run(attack) {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/mcp`
    const full = attack.start({ args: ['http', '--port', String(port)], before: fullDisk })
    const isThere = () => fetch(new URL('/health', url)).then(({ ok }) => ok)
    await eventually('the server answers', () => isThere().catch(() => false))
    const piped = await attack.serve()
    piped.process.stderr.destroy()
    const logged = (await Promise.all([url, piped.url].map(withstands))).reduce((a, b) => a + b)
    assert.deepEqual(await Promise.all([full, piped].map(stopped)), [0, 0])

    const stdio = attack.start({ before: fullDisk })
    stdio.process.stdin.write('nonsense\n')
    await new StdioClient(stdio).request('tools/call', { name: 'list_agents', arguments: {} })
    stdio.process.stdin.end()
    assert.equal(await stdio.exited, 0)
    return { 'refused requests': logged }
  },
}

/** Sends requests that are refused and logged, then a tool call. Returns the number of refusals. */
async function withstands(url: string): Promise<number> {
  const times = 20
  for (let time = 0; time < times; time++) assert.equal(await sendRefused(url), 400)
  assert.ok(!(await callBuiltTool(url, 'list_agents')).isError)
  return times
}

/** Exit code after SIGTERM. */
function stopped({ process: child, exited }: Program): Promise<number | null> {
  child.kill('SIGTERM')
  return exited
}

/** Traps that another user may have placed at the path of the compile cache. */
const traps: Readonly<Record<string, (compiled: string, theirs: string) => void>> = {
  'a folder that all may write to': (compiled) => {
    mkdirSync(compiled, { recursive: true })
    chmodSync(compiled, 0o777)
  },
  'a folder that all may replace': (compiled) => {
    mkdirSync(compiled, { recursive: true, mode: 0o700 })
    chmodSync(dirname(compiled), 0o777)
  },
  'a folder that a group may replace': (compiled) => {
    mkdirSync(compiled, { recursive: true, mode: 0o700 })
    chmodSync(dirname(compiled), 0o770)
  },
  'a link to a folder that all may replace': (compiled, theirs) => {
    const linked = join(theirs, 'compiled')
    chmodSync(theirs, 0o777)
    mkdirSync(linked, { mode: 0o700 })
    mkdirSync(dirname(compiled), { recursive: true, mode: 0o700 })
    symlinkSync(linked, compiled)
  },
}

export const compileCache: Scenario = {
  name: 'compile-cache',
  point: 'Another user of the machine creates the folder for compiled code first.',
  guarantee: 'Compiled code is stored only in a folder that belongs to the user and has mode 0700.',
  async run(attack) {
    for (const [name, prepare] of Object.entries(traps)) {
      const { compiled, theirs, cache } = places(attack)
      prepare(compiled, theirs)
      const contents = () =>
        [compiled, theirs].map((folder) => String(readdirSync(folder, { recursive: true })))
      const prepared = contents()
      await startAndEnd(attack, cache, theirs)
      assert.deepEqual(contents(), prepared, name)
    }
    const { compiled, theirs, cache } = places(attack)
    await startAndEnd(attack, cache, theirs)
    const kept = readdirSync(compiled, { recursive: true })
    assert.ok(kept.length > 0)
    for (const folder of [compiled, dirname(compiled)]) {
      assert.equal((statSync(folder).mode & 0o777).toString(8), '700', folder)
    }
    assert.deepEqual(readdirSync(theirs), [])
    return { traps: Object.keys(traps).length, 'files kept': kept.length }
  },
}

/**
 * The user's cache folder, the program's compile cache in it, and a folder writable by all users.
 */
function places(attack: Attack) {
  const cache = attack.folder()
  const theirs = attack.folder()
  chmodSync(theirs, 0o1777)
  return { cache, theirs, compiled: join(cache, 'voice-agent-mcp/compiled') }
}

async function startAndEnd(attack: Attack, cache: string, shared: string): Promise<void> {
  const env = { XDG_CACHE_HOME: cache, TMPDIR: shared }
  const program = attack.start({ env, before: 'umask 000' })
  program.process.stdin.end()
  assert.equal(await program.exited, 0)
}

export const privateFiles: Scenario = {
  name: 'private-files',
  point: 'Databases are created in a folder that all users can read, with umask 000.',
  guarantee:
    'Other users of the machine cannot read the databases, which are created with mode 0600.',
  async run(attack) {
    const folder = attack.folder()
    chmodSync(folder, 0o777)
    const server = await attack.serve({
      before: 'umask 000',
      env: {
        VOICE_AGENT_SANDBOX_DB: join(folder, 'sandbox.db'),
        VOICE_AGENT_STATE_DIR: folder,
        VOICE_AGENT_DIAL_POLICY: '{"max_per_day":5}',
      },
    })
    const placed = await callBuiltTool(server.url, 'place_call', {
      type: 'phone',
      agent_id: seedIds.supportAgent,
      from_number: '+12025550110',
      to_number: '+12025550100',
    })
    assert.ok(!placed.isError, JSON.stringify(placed.content))
    const files = readdirSync(folder)
    // Sandbox data, the journal of placed telephone calls, and the call counter; each with its
    // write-ahead log.
    assert.ok(files.filter((file) => file.endsWith('.db')).length >= 3, files.join(', '))
    for (const file of files) {
      assert.equal((statSync(join(folder, file)).mode & 0o777).toString(8), '600', file)
    }
    return { files: files.length }
  },
}

export const emptyHome: Scenario = {
  name: 'empty-home',
  point: 'HOME is empty or a relative path, as in some containers and services.',
  guarantee:
    'The program reports which settings it needs, and writes nothing to the current folder.',
  async run(attack) {
    const folder = attack.folder()
    const noPlaces = { XDG_DATA_HOME: '', XDG_CACHE_HOME: '', XDG_STATE_HOME: '' }
    for (const HOME of ['', 'home']) {
      const program = attack.start({
        args: ['http', '--port', '0'],
        before: `cd '${folder}'`,
        env: { ...noPlaces, HOME, VOICE_AGENT_SANDBOX_DB: '', VOICE_AGENT_STATE_DIR: '' },
      })
      assert.equal(await program.exited, 1)
      assert.match(program.stderr(), /HOME .*--state-dir/)
      assert.deepEqual(readdirSync(folder), [])
    }
    return {}
  },
}

/** Module preloaded by the operator's Node options: each process prints its heap limit on start. */
const announcesHeap = `import{getHeapStatistics as s}from'node:v8';console.error('started',process.pid,Math.round(s().heap_size_limit/2**20))`

export const nodeOptions: Scenario = {
  name: 'node-options',
  point: 'An operator sets options of Node.js.',
  guarantee:
    'The options apply: the program is one process and never restarts itself with other options.',
  async run(attack) {
    const heap = 200
    const server = await attack.serve({
      env: {
        NODE_OPTIONS: `--max-old-space-size=${heap} --max-semi-space-size=1 --import=data:text/javascript,${encodeURIComponent(announcesHeap)}`,
      },
    })
    await callBuiltTool(server.url, 'list_agents')
    const started = [...server.stderr().matchAll(/^started (\d+) (\d+)$/gm)]
    assert.deepEqual(
      started.map(([, pid]) => Number(pid)),
      [server.process.pid],
    )
    const limit = Number(started[0]?.[2])
    assert.ok(limit >= heap && limit < heap + 20, `The heap may have ${limit} MB`)
    return { 'heap limit, MB': limit }
  },
}
