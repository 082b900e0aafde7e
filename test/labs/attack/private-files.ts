import assert from 'node:assert/strict'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { seedIds } from '../../../src/sandbox/small-data.ts'
import { callBuiltTool } from '../measure/program.ts'
import type { Scenario } from './scenario.ts'

export const privateFiles: Scenario = {
  name: 'private-files',
  point: 'Databases are created in a folder that all users can read, with umask 000.',
  guarantee: 'Other users of the machine cannot read them: they are created with mode 0600.',
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
    // Sandbox data, the journal of placed calls, the call counter; each with its log.
    assert.ok(files.filter((file) => file.endsWith('.db')).length >= 3, files.join(', '))
    for (const file of files) {
      assert.equal((statSync(join(folder, file)).mode & 0o777).toString(8), '600', file)
    }
    return { files: files.length }
  },
}
