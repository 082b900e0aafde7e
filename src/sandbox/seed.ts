import { createAccount, insertKey } from './accounts.ts'
import type { Content, Fixture } from './fixture/fixture.ts'
import { loadContent, type NextId } from './fixture/fixture.ts'
import { hotelContent } from './fixture/hotel-calls.ts'
import { sandboxKeys, seedId, seedIds, seedSmall } from './small-data.ts'
import type { Store } from './store.ts'

const day = 24 * 3_600_000

/**
 * Data of a new sandbox. `small`: fixed data whose ids, names and counts programs can rely on.
 * `full`: the same, plus a business with a busy and a quiet week. A fixture: the person's own
 * description.
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

/** Loads a fixture. Keys and the unrelated account are not in it: all seeds have the same. */
function seedFixture(store: Store, now: number, { account, subaccounts, ...main }: Fixture): void {
  const created = now - 90 * day
  const ids = countingIds(1)
  const fill = (id: string, name: string, parentId: string | null, content: Content) => {
    createAccount(store, { id, name, parentId, now: created })
    loadContent(content, contentOf(store, { now, ids, accountId: id }))
  }
  fill(seedIds.account, account ?? 'Sandbox account', null, main)
  insertKey(store, sandboxKeys.main, seedIds.account)
  subaccounts.forEach(({ name, ...content }, at) => {
    const id = at === 0 ? seedIds.subaccount : seedId(1, 0x10 + at)
    fill(id, name, seedIds.account, content)
    if (at === 0) insertKey(store, sandboxKeys.subaccount, id)
  })
  createAccount(store, {
    id: seedIds.otherAccount,
    name: 'Unrelated account',
    parentId: null,
    now: created,
  })
  insertKey(store, sandboxKeys.other, seedIds.otherAccount)
}
