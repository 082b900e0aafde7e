import { cpSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bin, quietly, scratchFolder, startInShell, startProcess } from '../../harness/program.ts'
import { StdioClient } from '../../labs/measure/program.ts'

const env = { ...quietly, VOICE_AGENT_SANDBOX_DB: ':memory:' }
const read = { name: 'get_current_account', arguments: {} }
const loaded = { structuredContent: { name: expect.any(String) } }

/** Loaded before the program: says when the sandbox runs, whose code is loaded last. */
const announcing = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      if (!url.includes('/parts/sandbox-')) return loaded
      return { ...loaded, source: 'process.stderr.write("sandbox loaded");' + loaded.source }
    },
  })
`)}`

/** The program loads the service 1.5 s after its start; a busy machine takes longer. */
const loadTime = 4000

test.concurrent('all code is loaded soon after the start, so that an update of its files does no harm', async () => {
  using folder = scratchFolder()
  const dist = join(folder.path, 'dist')
  cpSync(dirname(bin), dist, { recursive: true })
  const command = [process.execPath, '--import', announcing, join(dist, 'voice-agent-mcp.js')]
  await using program = startProcess(command, env)
  await program.waitFor(/sandbox loaded/)
  rmSync(dist, { recursive: true })
  const client = new StdioClient(program)
  expect(await client.request('tools/call', read)).toMatchObject(loaded)
})

// ulimit is a command of POSIX shells, and signals are not heard on Windows.
test
  .skipIf(process.platform === 'win32')
  .concurrent(
    'code that could not be loaded in advance, for want of descriptors, is loaded when it is needed',
    async () => {
      const taker = join(import.meta.dirname, '../../harness/exhaust-descriptors.ts')
      await using program = startInShell('ulimit -n 64', [], env, ['--import', taker])
      await program.waitFor(/SANDBOX/)
      program.process.kill('SIGUSR2')
      await program.waitFor(/descriptors held: [1-9]/)
      await sleep(loadTime)
      program.process.kill('SIGUSR2')
      await program.waitFor(/descriptors held: 0/)
      const client = new StdioClient(program)
      expect(await client.request('tools/call', read)).toMatchObject(loaded)
    },
  )
