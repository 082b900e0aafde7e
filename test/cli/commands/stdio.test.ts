import { cpSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bin, quietly, scratchFolder, startInShell, startProcess } from '../../harness/program.ts'
import { StdioClient } from '../../labs/measure/clients.ts'

const env = { ...quietly, VOICE_AGENT_SANDBOX_DB: ':memory:' }
const read = { name: 'get_current_account', arguments: {} }
const loaded = { structuredContent: { name: expect.any(String) } }

/** Preloaded module that reports when the code of the sandbox runs, which is loaded last. */
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

/** Time to load the service, ms: 1.5 s after the start, and longer on a busy machine. */
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

// `ulimit` needs a POSIX shell, and Windows delivers no signals.
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
