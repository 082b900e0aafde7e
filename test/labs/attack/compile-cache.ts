import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Attack } from './attack.ts'
import type { Scenario } from './scenario.ts'

/** What another user may have made in place of the folder for compiled code. */
const traps: Readonly<Record<string, (compiled: string, theirs: string) => void>> = {
  'a folder that all may write to': (compiled) => {
    mkdirSync(compiled, { recursive: true })
    chmodSync(compiled, 0o777)
  },
  'a folder that all may replace': (compiled) => {
    mkdirSync(compiled, { recursive: true, mode: 0o700 })
    chmodSync(dirname(compiled), 0o777)
  },
  'a link': (compiled, theirs) => {
    mkdirSync(dirname(compiled), { recursive: true, mode: 0o700 })
    symlinkSync(theirs, compiled)
  },
}

export const compileCache: Scenario = {
  name: 'compile-cache',
  point: 'Another user of the machine makes the folder for compiled code first.',
  guarantee: "Compiled code is kept in a folder of the user's own with mode 0700, or nowhere.",
  async run(attack) {
    for (const [name, prepare] of Object.entries(traps)) {
      const { compiled, theirs, cache } = places(attack)
      prepare(compiled, theirs)
      await startAndEnd(attack, cache, theirs)
      assert.deepEqual([...readdirSync(compiled), ...readdirSync(theirs)], [], name)
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

/** The user's cache folder, the folder of this program's compiled code, and a folder of all users. */
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
