import { createSqliteCallCounter } from '../../src/state/sqlite/sqlite-call-counter.ts'

/*
 * A process that reserves calls as fast as it can and prints every answer on a line, until it is
 * killed or refused.
 */

const [file = '', limit = '0'] = process.argv.slice(2)
const counter = createSqliteCallCounter(file, 'VOICE_AGENT_STATE_DIR')
for (;;) {
  const answer = await counter.reserve({ max_per_day: Number(limit) }, 3_600_000)
  process.stdout.write(`${'id' in answer ? answer.id : answer.exceeded.rule}\n`)
  if ('exceeded' in answer) break
}
await counter.close()
