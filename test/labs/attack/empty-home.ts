import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import type { Scenario } from './scenario.ts'

export const emptyHome: Scenario = {
  name: 'empty-home',
  point: 'HOME is empty or relative, as in some containers and services.',
  guarantee: 'The program says which settings it needs, and writes nothing to the current folder.',
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
      assert.match(program.stderr(), /There is no folder to keep data in: HOME .*--state-dir/)
      assert.deepEqual(readdirSync(folder), [])
    }
    return {}
  },
}
