import { createSqliteLedger } from '../../src/state/sqlite-ledger.ts'

/*
 * A server as far as the ledger is concerned: reserves as fast as it can and writes every answer,
 * one per line, until it is killed or has been refused once.
 */

const [file = '', limit = '0'] = process.argv.slice(2)
const ledger = createSqliteLedger(file, 'VOICE_AGENT_DIAL_LEDGER')
for (;;) {
  const answer = await ledger.reserve({ max_per_day: Number(limit) }, 0, 3_600_000)
  process.stdout.write(`${'id' in answer ? answer.id : answer.exceeded.rule}\n`)
  if ('exceeded' in answer) break
}
await ledger.close()
