import type { Client } from '../../src/api/client.ts'
import { createFollower } from '../../src/calls/follow.ts'
import { openJournal } from '../../src/calls/journal.ts'
import { Unsettled } from '../../src/calls/unsettled.ts'
import { createMemories } from '../../src/mcp/memory.ts'
import type { Session } from '../../src/mcp/session.ts'
import { createDialPolicy } from '../../src/policy/dial-policy.ts'
import { createMemoryLedger } from '../../src/policy/ledger.ts'

/** A session around a client, for tests of what works with sessions. */
export function sessionOf(client: Client, more: Partial<Session> = {}): Session {
  const source = 'a test'
  return {
    client,
    memory: createMemories()('a key', client),
    dialling: {
      journal: () => openJournal(':memory:'),
      policy: createDialPolicy({ config: undefined, source, ledger: createMemoryLedger() }),
      follower: createFollower(),
      underWay: undefined,
      unsettled: new Unsettled(),
    },
    platform: 'https://platform.example',
    owner: 'an owner',
    isSandbox: false,
    keySource: source,
    account: undefined,
    redact: (text) => text,
    ...more,
  }
}
