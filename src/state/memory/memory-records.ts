import type { NewRecord, RecordBounds, RecordKey, RecordKind, Records } from '../records.ts'

interface KeptRecord extends NewRecord {
  /** When its time is over, ms since 1970. */
  readonly expires: number
}

/** Records of this process, which end with it. No method pauses, so each is atomic. */
export function createMemoryRecords(): Records {
  const kept = new KeptRecords()
  return {
    async add(record, bounds) {
      kept.forgetOldest()
      if (kept.get(record)) return 'exists'
      if (kept.isFull(record, bounds)) kept.forgetExpired()
      if (kept.isFull(record, bounds)) return 'full'
      kept.add(record)
      return 'added'
    },
    async put(record, bounds) {
      kept.forgetOldest()
      const isThere = kept.get(record) !== undefined
      if (!isThere && kept.isFull(record, bounds)) kept.forgetExpired()
      if (!isThere && kept.isFull(record, bounds)) return 'full'
      kept.add(record)
      return 'kept'
    },
    get: async (key) => kept.get(key)?.value,
    remove: async (key) => kept.remove(key),
  }
}

const keyOf = ({ kind, id }: RecordKey) => `${kind} ${id}`

class KeptRecords {
  readonly #records = new Map<string, KeptRecord>()
  /** How many there are of each kind, and of each kind and owner. */
  readonly #counts = new Map<string, number>()

  get(key: RecordKey): KeptRecord | undefined {
    const record = this.#records.get(keyOf(key))
    return record && record.expires > Date.now() ? record : undefined
  }

  isFull({ kind, owner }: NewRecord, bounds: RecordBounds | undefined): boolean {
    if (!bounds) return false
    const [inAll, ofOwner] = countedAs({ kind, owner }).map((name) => this.#counts.get(name) ?? 0)
    return (inAll ?? 0) >= bounds.inAll || (ofOwner ?? 0) >= bounds.perOwner
  }

  add(record: NewRecord): void {
    // One with the same id may be there: it is replaced, or its time is over.
    this.#delete(record)
    this.#records.set(keyOf(record), { ...record, expires: Date.now() + record.forMs })
    this.#count(record, 1)
  }

  remove(key: RecordKey): boolean {
    const wasThere = this.get(key) !== undefined
    this.#delete(key)
    return wasThere
  }

  /** Forgets from the oldest to the first that has not expired: few at a time. */
  forgetOldest(): void {
    const now = Date.now()
    for (const record of this.#records.values()) {
      if (record.expires > now) return
      this.#delete(record)
    }
  }

  /** Looks through all: records are kept for different times, so an old one may precede expired ones. */
  forgetExpired(): void {
    const now = Date.now()
    for (const record of this.#records.values()) if (record.expires <= now) this.#delete(record)
  }

  #delete(key: RecordKey): void {
    const record = this.#records.get(keyOf(key))
    if (!record) return
    this.#records.delete(keyOf(key))
    this.#count(record, -1)
  }

  #count(record: NewRecord, by: 1 | -1): void {
    for (const name of countedAs(record)) {
      const count = (this.#counts.get(name) ?? 0) + by
      if (count > 0) this.#counts.set(name, count)
      else this.#counts.delete(name)
    }
  }
}

const countedAs = ({ kind, owner }: { kind: RecordKind; owner: string }) => [
  kind,
  JSON.stringify([kind, owner]),
]
