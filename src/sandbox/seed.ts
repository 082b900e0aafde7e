import { createAccount } from './accounts.ts'
import type { Content, Fixture } from './fixture/fixture.ts'
import { loadContent, type NextId } from './fixture/fixture.ts'
import { hotelContent } from './fixture/hotel-calls.ts'
import { sandboxKeys, seedId, seedIds, seedSmall } from './small-seed.ts'
import type { Store } from './store.ts'

const day = 24 * 3_600_000

/**
 * Data of a new sandbox. `small`: fixed data whose ids, names and counts programs can rely on.
 * `full`: the same, plus a hotel with a busy and a quiet week. A fixture: data that the user
 * describes.
 */
export type Seed = 'small' | 'full' | Fixture

/** Fills a new sandbox. */
export function seed(store: Store, now: number, what: Seed): void {
  if (typeof what === 'object') seedFixture(store, now, what)
  else seedSmall(store, now)
  if (what === 'full') {
    const ids = countingIds(0x10)
    loadContent(hotelContent(now), contentOf(store, { now, ids, accountId: seedIds.account }))
  }
}

/** Generates consecutive ids, starting at `first`. */
function countingIds(first: number): NextId {
  const kinds = { agent: 2, trunk: 3, number: 4, call: 6 }
  const next = { agent: first, trunk: first, number: first, call: first }
  return (kind) => seedId(kinds[kind], next[kind]++)
}

const contentOf = (
  store: Store,
  { now, ids, accountId }: { now: number; ids: NextId; accountId: string },
) => ({ store, now, accountId, nextId: ids, created: now - 80 * day })

/**
 * Loads a fixture. The API keys, and an account unrelated to the others, are the same in every
 * sandbox, so a fixture has neither.
 */
function seedFixture(store: Store, now: number, { account, subaccounts, ...main }: Fixture): void {
  const created = now - 90 * day
  const ids = countingIds(1)
  const add = (id: string, name: string, parentId: string | null, apiKey?: string) =>
    createAccount(store, { id, name, parentId, now: created, apiKey })
  const fill = (accountId: string, content: Content) =>
    loadContent(content, contentOf(store, { now, ids, accountId }))
  add(seedIds.account, account ?? 'Sandbox account', null, sandboxKeys.main)
  fill(seedIds.account, main)
  for (const [at, { name, ...content }] of subaccounts.entries()) {
    const id = at === 0 ? seedIds.subaccount : seedId(1, 0x10 + at)
    add(id, name, seedIds.account, at === 0 ? sandboxKeys.subaccount : undefined)
    fill(id, content)
  }
  add(seedIds.otherAccount, 'Unrelated account', null, sandboxKeys.other)
}
