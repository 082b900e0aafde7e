import type { Client } from '../../src/api/client.ts'
import { createCallFollower } from '../../src/calls/call-follower.ts'
import { createDialPolicy } from '../../src/policy/dial-policy.ts'
import { createReplyCaches } from '../../src/session/reply-cache.ts'
import type { Session } from '../../src/session/session.ts'
import { createCallBatches } from '../../src/state/call-batches.ts'
import { createMemoryCallCounter } from '../../src/state/memory/memory-call-counter.ts'
import { createMemoryRecords } from '../../src/state/memory/memory-records.ts'
import { openSqliteJournal } from '../../src/state/sqlite/sqlite-journal.ts'

/** A session around a client, for tests of what works with sessions. */
export function sessionOf(client: Client, more: Partial<Session> = {}): Session {
  const source = 'a test'
  return {
    client,
    cache: createReplyCaches()('a key', client),
    callServices: {
      journal: () => openSqliteJournal(':memory:'),
      batches: createCallBatches(createMemoryRecords()),
      policy: createDialPolicy({ config: undefined, source, counter: createMemoryCallCounter() }),
      follower: createCallFollower(),
      underWay: undefined,
    },
    platform: 'https://platform.example',
    owner: 'an owner',
    isSandbox: false,
    keySource: source,
    pinnedAccount: undefined,
    redact: (text) => text,
    ...more,
  }
}
