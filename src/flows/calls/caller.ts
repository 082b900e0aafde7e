import * as z from 'zod'
import { ApiError } from '../../api/failure.ts'
import { rejectOnAbort } from '../../api/time-limit.ts'
import { type Caller, sameId } from '../../calls/find-out.ts'
import { routes } from '../../contract/routes.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { learnAccount, ownAccount } from '../../session/account.ts'
import type { Session } from '../../session/session.ts'
import type { Journal } from '../../state/journal.ts'
import { inWords } from './call-problems.ts'
import { type Bounded, bounded } from './placed-call.ts'

/** A run that places calls: on which account, whose calls they are, and until when it is answered. */
export interface Placing extends Bounded {
  readonly caller: Caller
}

/**
 * The same run with the account named by its id, because one account under two names would make two
 * of what is to be done once. Throws ApiError where the key has no access to the account: what was
 * placed there is told without asking the platform.
 */
export async function forPlacing<
  R extends Pick<Run, 'request' | 'session' | 'signal' | 'answerBy'>,
>(given: R): Promise<R & Placing> {
  const run = bounded(given)
  const notSent = { kind: 'cancelled', maybeSent: false } as const
  const { account_id, caller } = await rejectOnAbort(
    callerFor(run),
    run.signal,
    () => new ApiError(notSent, { ...routes.accounts.current, attempts: 1 }),
  )
  const params = { ...run.request.params, account_id }
  return { ...run, request: { ...run.request, params }, caller }
}

async function callerFor(run: Pick<Run, 'request' | 'session'>) {
  const { request, session } = run
  const own = await inWords(run, async () =>
    placingAccount(session, await session.dialling.journal()),
  )
  const { account_id: named = 'me' } = request.params
  const account_id = named === 'me' ? own.id : named
  const isOwn = sameId(account_id) === sameId(own.id)
  if (!isOwn) {
    const asked = { params: { account_id }, query: { limit: 1 } }
    await session.cache.read(routes.calls.list, asked, 'account')
  }
  return { account_id, caller: callerOf(session, { account_id, own, isOwn }) }
}

/** Whose calls those of an account are, for who only reads. Throws ApiError and JournalError. */
export async function callerOn(account: string, session: Session): Promise<Caller> {
  const own = await placingAccount(session, await session.dialling.journal())
  const account_id = account === 'me' ? own.id : account
  const isOwn = sameId(account_id) === sameId(own.id)
  return callerOf(session, { account_id, own, isOwn })
}

/** The key's own account; a sandbox says which one it is: a new one has another id. */
const Own = z.object({ id: z.string(), sandbox_id: z.string().optional() })
type Own = z.output<typeof Own>

/**
 * The key's own account. Written down, so that a platform that does not tell it at the moment is no
 * reason to say of a call which was placed that it failed.
 */
async function placingAccount(session: Session, journal: Journal): Promise<Own> {
  const key = `account of ${session.platform} ${session.owner}`
  const known = await journal.readNote(key)
  const own = await currentAccount(session).catch((error: unknown) => {
    if (!(error instanceof ApiError) || isRefusal(error) || known === undefined) throw error
    return Own.parse(JSON.parse(known))
  })
  learnAccount(session, own)
  const value = JSON.stringify(own)
  if (value !== known) await journal.writeNote(key, value)
  return own
}

/** As the platform tells it; of a sandbox as it is now: it may be another than a moment ago. */
async function currentAccount(session: Session): Promise<Own> {
  const own = Own.parse(await ownAccount(session))
  if (own.sandbox_id === undefined) return own
  const request = { params: {}, query: {} }
  return Own.parse(await session.cache.refresh(routes.accounts.current, request, 'account'))
}

/** The platform knows the key and says no, or does not know it. */
const isRefusal = ({ failure }: ApiError) =>
  failure.kind === 'rejected' && (failure.status === 401 || failure.status === 403)

/** One platform and one account, whichever of its keys is used. */
function callerOf(
  { platform, owner }: Session,
  { account_id, own, isOwn }: { account_id: string; own: Own; isOwn: boolean },
): Caller {
  // In version 1 of the journal it was the hash of the key, and the account as it was named.
  const names = isOwn ? ['me', account_id] : [account_id]
  return {
    owner: JSON.stringify([platform, own.sandbox_id ?? null, sameId(account_id)]),
    formerOwners: names.map((name) => `${owner} ${name}`),
  }
}
