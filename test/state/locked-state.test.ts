import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createSqliteJournal } from '../../src/state/sqlite/sqlite-call-journal.ts'
import { withStateDeadline } from '../../src/state/state-access.ts'
import { connectPerson } from '../harness/answering-client.ts'
import { scratchFolder } from '../harness/program.ts'
import { startRunningCallsPlatform } from '../harness/running-calls-platform.ts'

const identity = { owner: 'an account', content: 'call', externalId: 'mine', sameForMs: 600_000 }

/** Locks a file, as a writing process does. */
function lock(file: string) {
  const db = new DatabaseSync(file)
  db.exec('BEGIN IMMEDIATE')
  return {
    release: () => db.exec('COMMIT'),
    [Symbol.dispose]: () => db.close(),
  }
}

test('waits for a journal that another process writes to, without blocking this process', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'calls.db')
  const journal = createSqliteJournal(file, '--state-dir')
  await journal.check()
  using other = lock(file)
  const claiming = journal.claim(identity)
  expect(await journal.find(identity)).toBeUndefined()
  // A claim that blocks this thread would never get here.
  other.release()
  expect(await claiming).toMatchObject({ kind: 'mine' })
  await journal.close()
})

test('a journal that stays locked is reported as locked, with what to do', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'calls.db')
  const journal = createSqliteJournal(file, '--state-dir')
  await journal.check()
  using _ = lock(file)
  const claiming = withStateDeadline(performance.now() + 100, () => journal.claim(identity))
  await expect(claiming).rejects.toThrow(/is locked.*: try again/s)
  await journal.close()
})

test('other tools answer while a call waits for the files of another process', async () => {
  await using platform = await startRunningCallsPlatform()
  using folder = scratchFolder()
  const env = {
    ...platform.env,
    VOICE_AGENT_STATE_DIR: folder.path,
    VOICE_AGENT_CONFIRM: 'never',
    VOICE_AGENT_DIAL_POLICY: '{"max_per_day": 10}',
  }
  await using client = await connectPerson('v2 2026-07-28', { env })
  const call = (to_number: string) => ({
    type: 'phone',
    agent_id: platform.agent.id,
    from_number: '+493023125000',
    to_number,
  })
  // Creates the state files.
  await client.value('place_call', call('+493023125001'))
  using calls = lock(join(folder.path, 'calls.db'))
  using dialled = lock(join(folder.path, 'dialled.db'))
  let isPlaced = false
  const placing = client.value('place_call', call('+493023125002')).then((placed) => {
    isPlaced = true
    return placed
  })
  for (let times = 0; times < 20; times++)
    await client.value('get_agent', { agent_id: platform.agent.id })
  expect(isPlaced).toBe(false)
  expect(platform.dialled).toHaveLength(1)
  calls.release()
  dialled.release()
  expect(await placing).toMatchObject({ to_number: '+493023125002' })
})

test('the sandbox answers reads while a change waits for another process', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'sandbox.db')
  const env = { VOICE_AGENT_SANDBOX_DB: file, VOICE_AGENT_STATE_DIR: ':memory:' }
  await using first = await connectPerson('v2 2026-07-28', { env })
  await first.value('get_current_account')
  using other = lock(file)
  // One client whose server opened the file before the lock, and one that opens it now.
  await using second = await connectPerson('v2 2026-07-28', { env })
  for (const client of [first, second]) {
    let isDone = false
    const creating = client.value('create_subaccount', { name: 'Branch' }).then((made) => {
      isDone = true
      return made
    })
    for (let times = 0; times < 10; times++) await client.value('list_agents')
    expect(isDone).toBe(false)
    if (client === first) creating.catch(() => undefined)
    else {
      other.release()
      expect(await creating).toMatchObject({ name: 'Branch' })
    }
  }
})
