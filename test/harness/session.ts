import { CallFollower } from '../../src/calls/call-follower.ts'
import type { Client } from '../../src/platform/client.ts'
import { noRedaction } from '../../src/platform/key-redaction.ts'
import { createReplyCaches } from '../../src/platform/sessions/reply-cache.ts'
import type { Session } from '../../src/platform/sessions/session.ts'
import { createReplyChanges } from '../../src/platform/sessions/watched-replies.ts'
import { createDialPolicy } from '../../src/policy/dial-policy.ts'
import { createLocalBroadcast } from '../../src/state/broadcast.ts'
import { createCallBatches } from '../../src/state/call-batches.ts'
import { createSqliteCallCounter } from '../../src/state/sqlite/sqlite-call-counter.ts'
import { createSqliteJournal } from '../../src/state/sqlite/sqlite-call-journal.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'

/** Caches of replies with the default settings, for a single server. */
export const replyCaches = (watched = { inAll: 2500, perKey: 250 }) =>
  createReplyCaches({
    catalogMs: 300_000,
    watched,
    changes: createReplyChanges(createLocalBroadcast(), ''),
    onRead: undefined,
  })

/** A session with state in memory, for a given platform client. */
export function sessionOf(client: Client, more: Partial<Session> = {}): Session {
  const source = 'a test'
  return {
    client,
    cache: replyCaches()('a key', client),
    callServices: {
      journal: createSqliteJournal(':memory:', '--state-dir'),
      batches: createCallBatches(createSqliteRecords(':memory:', '--state-dir')),
      policy: createDialPolicy({
        config: undefined,
        source,
        counter: createSqliteCallCounter(':memory:', '--state-dir'),
      }),
      follower: new CallFollower(),
      runningCalls: undefined,
      timing: { findOutMs: 20_000, settledMs: 120_000 },
    },
    undoLog: undefined,
    platform: 'https://platform.example',
    keyHash: 'an keyHash',
    isSandbox: false,
    keySource: source,
    pinnedAccount: undefined,
    redact: noRedaction,
    ...more,
  }
}
