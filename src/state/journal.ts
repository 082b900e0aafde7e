import { randomBytes } from 'node:crypto'
import { filePlace } from './journal-copy.ts'
import { journalFile, secretsOf } from './journal-file.ts'
import { type JournalTable, journalTable, type Row } from './journal-table.ts'
import { momentIn, passedSince } from './moment.ts'
import { openStateFile, patiently, transaction } from './sqlite-file.ts'

/** What is known of one placement: which call it was to be, and how far it got. */
export interface Entry {
  /** Whose it is, as it is written down. */
  readonly owner: string
  /** Correlation id that the platform is given with the call. */
  readonly externalId: string
  /**
   * `sending`: nobody knows yet; `placed`: there is a call; `not_taken`: there is one that the
   * platform said it did not take; `free`: there is none.
   */
  readonly state: 'sending' | 'placed' | 'not_taken' | 'free'
  /**
   * When it was last claimed, or known to be placed, ms since 1970; of what is sent, when its sender
   * gave up, or will at the latest: after that it leaves no more. Senders know their own entry by it.
   */
  readonly since: number
  readonly callId: string | null
}

/** Whose call it is to be, and what exactly: the same identity is the same call. */
export interface Identity {
  /** The platform and the account. */
  readonly owner: string
  /** Under what earlier versions wrote down the same: looked up, and no more written to anew. */
  readonly formerOwners: readonly string[]
  /** Everything that is sent except the external id. */
  readonly content: string
  /** The caller's own; `undefined`: one is minted. */
  readonly externalId: string | undefined
  /** How long an identical request without an external id means the same call, ms. */
  readonly sameForMs?: number | undefined
}

export type Claim =
  /** It is the caller's to send. */
  | { readonly kind: 'mine'; readonly entry: Entry }
  /** Somebody sends it, or has sent it, or nobody knows. */
  | { readonly kind: 'theirs'; readonly entry: Entry }
  /** The external id stands for another call. */
  | { readonly kind: 'taken' }

/** An entry as it is now. */
export interface Standing extends Entry {
  /**
   * For how long nobody can have sent it any more, ms; negative while somebody may. Counted anew
   * where the clock was set meanwhile, or the machine was started again.
   */
  readonly quietMs: number
}

/**
 * The record of what was sent, written before it is sent, so that nothing is sent twice: not by a
 * repeated request, another process on the same file, or after a restart. While another process
 * writes to the file, all methods wait without blocking this process. They throw JournalError.
 */
export interface Journal {
  /** Takes the right to send, or tells who has it. Atomic among all processes on the file. */
  claim(identity: Identity): Promise<Claim>
  /** What is known of an identical request; `undefined`: there was none, or nothing came of it. */
  look(identity: Identity): Promise<Entry | undefined>
  /**
   * How an entry stands by now; `undefined`: it is forgotten.
   */
  stand(entry: Entry): Promise<Standing | undefined>
  /**
   * It is sent now, by a sender who gives up in so many ms: to be said right before, by who has
   * claimed it and by who takes it over from a sender of whom nothing was heard since `entry.since`.
   * `undefined`: somebody else was faster.
   */
  sending(entry: Entry, forMs: number): Promise<Entry | undefined>
  /** Its sender has given up, earlier than it said. */
  gaveUp(entry: Entry): Promise<void>
  /** There is a call. */
  placed(entry: Entry, callId: string): Promise<void>
  /** There is a record of a call that the platform said it did not take. */
  notTaken(entry: Entry, callId: string): Promise<void>
  /** There is none and there will be none, unless somebody else has sent it since. */
  free(entry: Entry): Promise<void>
  /** How long ago a call was placed here, ms; `undefined`: it was not, or nobody knows when. */
  placedFor(
    owner: Pick<Identity, 'owner' | 'formerOwners'>,
    callId: string,
  ): Promise<number | undefined>
  /** What was last noted under a name, which is sealed. */
  noted(name: string): Promise<string | undefined>
  note(name: string, value: string): Promise<void>
  /** Puts the file back where it was deleted meanwhile. Throws where it cannot be, or is another. */
  keep(): Promise<void>
  close(): void
}

/**
 * How long an identical request without an external id of its own means the same call, ms. After
 * that, somebody who asks for the same again wants it again.
 */
const sameCallMs = 10 * 60_000

/**
 * The same for a call of a list, which takes several requests to get through, with nights, limits
 * and long weekends between them: shorter than the week after which a list may be due again.
 */
export const sameInListMs = 5 * 24 * 3_600_000

/** How long entries are kept, ms: longer than anybody repeats a request. */
const keptForMs = 30 * 24 * 3_600_000

/** The longest that a sender may still send what it has written down as sent, ms. */
const longestSendMs = 60_000

/** The journal cannot be kept; without it no call is placed. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
}

const unusable = (file: string, error: unknown) =>
  error instanceof JournalError
    ? error
    : new JournalError(
        `The journal of calls ${file} cannot be used: ${error instanceof Error ? error.message : error}. Without it a call could be placed twice, so none is. Let this program read and write the file and its folder, or name another folder with VOICE_AGENT_STATE_DIR.`,
        { cause: error },
      )

/** Opens, and if need be creates, the journal. `:memory:` forgets with the process. */
export async function openJournal(file: string): Promise<Journal> {
  try {
    return journalOn(file, await open(file))
  } catch (error) {
    throw unusable(file, error)
  }
}

async function open(file: string) {
  const db = await openStateFile(file, journalFile)
  const table = journalTable(db)
  await patiently(() => table.purge(momentIn(-keptForMs)))
  return { db, table, place: filePlace(file), ...secretsOf(db) }
}

type Opened = Awaited<ReturnType<typeof open>>

function journalOn(file: string, opened: Opened): Journal {
  let { db, table, place, seal, id } = opened
  let keeping: Promise<void> | undefined
  const guarded = async <T>(work: () => T): Promise<T> => {
    try {
      return await patiently(work)
    } catch (error) {
      throw unusable(file, error)
    }
  }
  const keep = async () => {
    try {
      place.putBack(db)
      const again = await open(file)
      if (again.id !== id) {
        again.db.close()
        throw new JournalError(replaced(file))
      }
      const before = db
      ;({ db, table, place, seal, id } = again)
      before.close()
    } catch (error) {
      throw unusable(file, error)
    }
  }
  return {
    claim: (identity) =>
      guarded(() =>
        transaction(db, 'BEGIN IMMEDIATE', () => claimIn(table, sealed(identity, seal))),
      ),
    look: (identity) =>
      guarded(() => {
        const own = sealed(identity, seal)
        const found = find(table, own)
        const isKnown = found && found.state !== 'free' && found.content === own.content
        return isKnown ? entryOf(found) : undefined
      }),
    stand: (entry) => guarded(() => standing(table, entry)),
    sending: (entry, forMs) =>
      guarded(() => {
        const sent = resent(table, entry, forMs)
        if (place.isThere()) return sent
        // Written where nobody else looks, it would keep nobody from sending the same. It is not
        // sent, so what is put back later must not say that it was.
        if (sent) table.release(sent, sent.since)
        throw new JournalError(gone(file))
      }),
    gaveUp: (entry) =>
      guarded(() => {
        const now = momentIn()
        if (now.since < entry.since) table.resend(entry, entry.since, now)
      }),
    placed: (entry, callId) =>
      guarded(() => table.settle(entry, { state: 'placed', callId }, momentIn())),
    notTaken: (entry, callId) =>
      guarded(() => table.settle(entry, { state: 'not_taken', callId }, momentIn())),
    free: (entry) => guarded(() => table.release(entry, entry.since)),
    placedFor: ({ owner, formerOwners }, callId) =>
      guarded(() => {
        const rows = [owner, ...formerOwners].map((one) => table.byCall(seal(one), callId))
        const row = rows.find((found) => found !== undefined)
        return row && passedSince(row)
      }),
    noted: (name) => guarded(() => table.noted(seal(name))),
    note: (name, value) => guarded(() => table.note(seal(name), value)),
    async keep() {
      if (place.isThere()) return
      keeping ??= keep().finally(() => {
        keeping = undefined
      })
      await keeping
    },
    close: () => db.close(),
  }
}

const gone = (file: string) =>
  `The journal of calls ${file} was deleted while this program was running, and nothing was sent. Place the call again: the journal is put back then.`

const replaced = (file: string) =>
  `The journal of calls ${file} was replaced by another one while this program was running. What this program has placed is not in it, so it places no more calls. Restart it, and look with list_calls before you repeat what was placed before.`

/** An identity as it is written down. */
function sealed(identity: Identity, seal: (text: string) => string): Identity {
  return {
    ...identity,
    owner: seal(identity.owner),
    formerOwners: identity.formerOwners.map(seal),
    content: seal(identity.content),
  }
}

function find(table: JournalTable, identity: Identity): Row | undefined {
  const { owner, formerOwners, content, externalId, sameForMs = sameCallMs } = identity
  const after = momentIn(-sameForMs)
  const of = (whose: string) =>
    externalId === undefined
      ? table.byContent(whose, content, after)
      : table.byId({ owner: whose, externalId })
  const own = of(owner)
  if (own && own.state !== 'free') return own
  // What came to nothing then says nothing of now.
  const former = formerOwners.map(of).find((row) => row !== undefined && row.state !== 'free')
  return former ?? own
}

function claimIn(table: JournalTable, identity: Identity): Claim {
  const { owner, content } = identity
  const found = find(table, identity)
  if (found?.state === 'free') {
    // Nothing came of it, so its id is free for a corrected call, too.
    const moment = laterThan(found.since, momentIn())
    table.reuse({ owner, externalId: found.external_id }, content, moment)
    return { kind: 'mine', entry: { ...sendingSince(found.external_id, moment.since), owner } }
  }
  if (found && found.content !== content) return { kind: 'taken' }
  if (found) return { kind: 'theirs', entry: entryOf(found) }
  const isMinted = identity.externalId === undefined
  const externalId = identity.externalId ?? mint()
  const moment = momentIn()
  table.insert({ owner, externalId }, { content, isMinted }, moment)
  return { kind: 'mine', entry: { ...sendingSince(externalId, moment.since), owner } }
}

function resent(table: JournalTable, entry: Entry, forMs: number): Entry | undefined {
  const moment = laterThan(entry.since, momentIn(forMs))
  const isOwn = table.resend(entry, entry.since, moment)
  return isOwn ? { ...entry, since: moment.since } : undefined
}

/** Never the same instant again: it is how senders know their own entry from another's. */
const laterThan = <T extends { readonly since: number }>(before: number, moment: T): T => ({
  ...moment,
  since: Math.max(moment.since, before + 1),
})

function standing(table: JournalTable, entry: Entry): Standing | undefined {
  const row = table.byId(entry)
  if (!row) return undefined
  const quietMs = passedSince(row)
  if (quietMs !== undefined || row.state !== 'sending')
    return { ...entryOf(row), quietMs: quietMs ?? 0 }
  // Nobody can tell how long ago that was: whoever sends it may only now have begun.
  const sent = resent(table, entryOf(row), longestSendMs)
  return { ...(sent ?? entryOf(row)), quietMs: -longestSendMs }
}

const sendingSince = (externalId: string, since: number) =>
  ({ externalId, state: 'sending', since, callId: null }) as const

const entryOf = ({ owner, external_id, state, since, call_id }: Row): Entry => ({
  owner,
  externalId: external_id,
  state,
  since,
  callId: call_id,
})

/** Short, and of few characters, so that no platform stores it otherwise than it was given. */
const mint = () => `auto-${randomBytes(12).toString('hex')}`
