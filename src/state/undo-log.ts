import { createHash, randomBytes } from 'node:crypto'
import * as z from 'zod'
import { createSealer, type SealingKeys } from './sealing.ts'

/**
 * Stores the earlier values of changed objects, so that a change can be undone. A change is one
 * tool call. It has an item per object. An item is added before its request is sent, and settled
 * after the reply. An item that was never settled, because of a crash or a lost reply, may have
 * been done or not.
 *
 * Rules for every implementation: each method is one atomic operation among all processes that
 * share the log. What `add` and `settle` wrote outlives the process; in a file, a power cut may
 * lose the last items. Owners, changes and objects are not stored in clear. Values are sealed by
 * the caller. `add` also deletes the oldest items beyond the bounds, at once or within a minute.
 */
export interface UndoStore {
  /** Adds items of one change, in the order of their numbers. Throws StateError. */
  add(change: ChangeKey, items: readonly NewUndoItem[], bounds: UndoBounds): Promise<void>
  /** Replaces the values of items. Ignores items that do not exist. Throws StateError. */
  settle(change: ChangeKey, items: readonly Omit<NewUndoItem, 'object'>[]): Promise<void>
  /** The items of a change, by number. Throws StateError. */
  ofChange(change: ChangeKey, bounds: UndoBounds): Promise<StoredUndoItem[]>
  /** The newest items of an object, newest first. Throws StateError. */
  ofObject(object: ObjectKey, max: number, bounds: UndoBounds): Promise<StoredUndoItem[]>
}

export interface ChangeKey {
  readonly owner: string
  readonly change: string
}

interface ObjectKey {
  readonly owner: string
  readonly object: string
}

interface NewUndoItem {
  /** 0-based index in the change. */
  readonly item: number
  readonly object: string
  readonly value: string
}

export const StoredUndoItem = z.object({
  item: z.number(),
  /** Time at which the item was added, ms since 1970. */
  at: z.coerce.number(),
  value: z.string(),
})
export type StoredUndoItem = z.output<typeof StoredUndoItem>

export interface UndoBounds {
  /** Maximum age of an item, ms. Older items count as deleted. */
  readonly maxAgeMs: number
  /** Maximum number of items per owner, and in total. The oldest are deleted first. */
  readonly perOwner: number
  readonly inAll: number
}

/**
 * A path in an object, with its values before and after the change. Absent means no value, which is
 * not null.
 */
const ChangedPath = z.object({
  path: z.array(z.string()),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
})

/** One changed object. */
const ChangedObject = z.object({
  /** Id of the change, with which the change can be undone. */
  change: z.string(),
  kind: z.enum(['agent', 'phone_number', 'sip_trunk', 'subaccount']),
  /** Account of the object. Never `me`. */
  account: z.string(),
  id: z.string(),
  name: z.string().optional(),
  /**
   * `sent`: it is not known whether the change was done, and `after` has the intended values.
   * `done`: `after` has the values of the reply.
   */
  state: z.enum(['sent', 'done', 'not_done']),
  paths: z.array(ChangedPath),
})
export type ChangedObject = z.output<typeof ChangedObject>
export type ChangedPath = ChangedObject['paths'][number]

/** The stored changes of one account, shared by all its API keys. Methods throw StateError. */
export interface UndoLog {
  /** Begins a change of this account. Objects are added to it one by one. */
  begin(owner: string): ChangeWriter
  /** `undefined`: the account never had this change, or it is no longer stored. */
  find(owner: string, change: string): Promise<FoundChange | undefined>
  /** The latest changes of an object, newest first. */
  ofObject(
    owner: string,
    object: Pick<ChangedObject, 'kind' | 'id'>,
  ): Promise<(ChangedObject & { readonly at: number })[]>
}

interface FoundChange {
  readonly objects: readonly ChangedObject[]
  /** True if some objects of the change are no longer stored. */
  readonly isPartial: boolean
}

export interface ChangeWriter {
  readonly change: string
  /** Stores an object before its request is sent. `too_large`: the object was not stored. */
  add(object: Omit<ChangedObject, 'change' | 'state'>): Promise<AddedObject | 'too_large'>
  /** Waits until every settled object is written. */
  flush(): Promise<void>
}

interface AddedObject {
  /**
   * Records the outcome after the reply. It is written together with the next objects, or by
   * `flush`.
   */
  settle(state: 'done' | 'not_done', paths: readonly ChangedPath[]): void
}

/** Maximum number of changes that `ofObject` returns. */
const maxShown = 10

/** Maximum number of changes that `ofObject` reads. It drops those that were not done. */
const maxRead = 50

/** Maximum length of an item's value, characters of JSON. */
const maxLength = 64_000

/**
 * Maximum number of items: in a file or database, and in memory, which the whole process shares.
 */
export const undoBounds = {
  stored: { perOwner: 2000, inAll: 100_000 },
  memory: { perOwner: 1000, inAll: 1000 },
} as const

/** Values are sealed with keys of this purpose, and bound to their owner. */
const purpose = 'earlier values'

export function createUndoLog(
  store: UndoStore,
  sealingKeys: SealingKeys,
  bounds: UndoBounds,
): UndoLog {
  const sealer = createSealer(sealingKeys, purpose)
  const open = async (owner: string, { value }: StoredUndoItem) => {
    const text = await sealer.open(value, [owner])
    return text === undefined ? [] : [ChangedObject.parse(JSON.parse(text))]
  }
  return {
    begin(owner) {
      const key = { owner, change: changeId() }
      const write = createQueue(store, key, bounds)
      const seal = (object: ChangedObject) => {
        const text = JSON.stringify(object)
        return text.length > maxLength ? undefined : sealer.seal(text, [owner])
      }
      let count = 0
      return {
        change: key.change,
        async add(given) {
          const added: ChangedObject = { ...given, change: key.change, state: 'sent' }
          const item = count++
          const value = await seal(added)
          if (value === undefined) return 'too_large'
          await write.add({ item, object: objectKey(given), value })
          return {
            settle: (state, paths) =>
              write.settle(async () => {
                const value = await seal({ ...added, state, paths: [...paths] })
                // The values of the reply are too large to store, so the intended values stay.
                return value === undefined ? undefined : { item, value }
              }),
          }
        },
        flush: write.flush,
      }
    },
    async find(owner, change) {
      const items = await store.ofChange({ owner, change }, bounds)
      const found = (await Promise.all(items.map((item) => open(owner, item)))).flat()
      if (found.length === 0) return undefined
      const last = items.at(-1)?.item ?? 0
      return { objects: found, isPartial: found.length <= last }
    },
    async ofObject(owner, object) {
      const items = await store.ofObject({ owner, object: objectKey(object) }, maxRead, bounds)
      const opened = await Promise.all(
        items.map(async (item) =>
          (await open(owner, item)).map((found) => ({ ...found, at: item.at })),
        ),
      )
      return opened
        .flat()
        .filter(({ state }) => state !== 'not_done')
        .slice(0, maxShown)
    },
  }
}

const objectKey = ({ kind, id }: Pick<ChangedObject, 'kind' | 'id'>) =>
  createHash('sha256')
    .update(JSON.stringify([kind, id]))
    .digest('base64url')

/**
 * Writes the items of one change. While a write is running, new items wait and are then written
 * together, so that a change of many objects takes few round trips.
 */
function createQueue(store: UndoStore, key: ChangeKey, bounds: UndoBounds) {
  let added: NewUndoItem[] = []
  let settled: (() => Promise<{ item: number; value: string } | undefined>)[] = []
  let current: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  const write = async () => {
    next = undefined
    const [newItems, ends] = [added, settled]
    added = []
    settled = []
    const values = (await Promise.all(ends.map((end) => end()))).filter((end) => end !== undefined)
    await Promise.all([
      newItems.length > 0 && store.add(key, newItems, bounds),
      values.length > 0 && store.settle(key, values),
    ])
  }
  const flush = (): Promise<void> => {
    if (added.length + settled.length === 0) return current
    next ??= current.catch(() => undefined).then(write)
    current = next
    return current
  }
  return {
    add(item: NewUndoItem): Promise<void> {
      added.push(item)
      return flush()
    },
    settle: (end: (typeof settled)[number]) => void settled.push(end),
    flush,
  }
}

/**
 * An id of 48 random bits, as twelve letters. It has no digits, because seven digits in a row would
 * be redacted as a phone number.
 */
const changeId = (): string =>
  randomBytes(6)
    .toString('hex')
    .replace(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)))
