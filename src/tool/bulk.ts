import * as z from 'zod'
import {
  ApiError,
  failureText,
  isNotFound,
  isRejectedWith,
  mayBeDone,
} from '../platform/failure.ts'
import type { AccountInTree } from '../platform/sessions/account-tree.ts'
import { pause } from '../platform/time-limit.ts'
import { firstCharacters } from '../text/safe-text.ts'
import { runIn } from './account-reader.ts'
import { hintFor, noSuch } from './references/did-you-mean.ts'
import type { NamingArgument } from './references/kinds.ts'
import { argumentOf, Refused } from './refused.ts'
import type { Run } from './tool.ts'

/** Maximum number of items that one tool call changes. */
export const maxItemsPerCall = 100

/**
 * Maximum number of items worked on at the same time. Low enough for a platform with rate limits.
 */
const concurrency = 8

/** Remaining time that is needed to start another item, ms. */
const minTimePerItemMs = 2000

/** Maximum retries of an item's work after the platform refused a request with 429. */
const maxRetries = 4

/** Result for one item of a bulk operation. */
export type Outcome<T> =
  | { readonly state: 'done'; readonly value: T }
  /** Nothing was changed. */
  | { readonly state: 'failed'; readonly problem: string; readonly error: ApiError | Refused }
  /** The change was sent; its outcome is unknown. */
  | { readonly state: 'unknown'; readonly problem: string; readonly error: ApiError }
  /**
   * Not started, because time was up, the caller cancelled, the server is stopping, or the platform
   * refused the API key.
   */
  | { readonly state: 'not_tried'; readonly problem: string }

/** An item by id, or the reason why the given reference is ambiguous or unknown. */
export type SelectedItem = {
  /** The reference as the caller gave it: an id or a name. */
  readonly given: string
  /** Account of the item, if the selection may span several accounts. */
  readonly account?: AccountInTree
} & ({ readonly id: string } | { readonly problem: string })

/** The argument that names many items. */
export const manyIds = z.array(z.string().min(1)).min(1).max(maxItemsPerCall).optional()

/** Result for one item, with the reference that the caller gave. */
export interface NamedOutcome<T> {
  readonly given: string
  readonly id?: string
  readonly account?: AccountInTree
  readonly outcome: Outcome<T>
}

/**
 * Runs `work` for each item, in the item's account. An item that does not exist fails, and its
 * problem names the closest existing items. `argument`: the argument that names a single item.
 */
export async function forEachSelected<T, R extends BulkRun & Pick<Run, 'request' | 'restricted'>>(
  items: readonly SelectedItem[],
  argument: NamingArgument,
  work: (id: string, run: R) => Promise<T>,
  run: R,
): Promise<NamedOutcome<T>[]> {
  const outcomes = await forEach(
    items,
    async (item) => {
      if ('problem' in item) throw new Refused('bad_arguments', item.problem)
      return work(item.id, runIn(item.account, run))
    },
    run,
  )
  return Promise.all(
    items.map(async (item, i) => {
      const { given, account } = item
      const named = { given, ...('id' in item && { id: item.id }), ...(account && { account }) }
      const outcome = outcomes[i] as Outcome<T>
      if (!isMissing(outcome)) return { ...named, outcome }
      const { request, restricted } = runIn(account, run)
      const hint = await hintFor(argument, given, request, restricted)
      const problem = [noSuch(argument, given, restricted), hint].filter(Boolean).join(' ')
      return { ...named, outcome: { ...outcome, problem } }
    }),
  )
}

/**
 * True if the item does not exist. A 404 after a successful read concerns something that the change
 * refers to, not the item.
 */
const isMissing = (outcome: Outcome<unknown>) =>
  outcome.state === 'failed' &&
  outcome.error instanceof ApiError &&
  outcome.error.method === 'GET' &&
  isNotFound(outcome.error)

export type BulkRun = Pick<Run, 'signal' | 'shutdown' | 'answerBy' | 'progress'>

/**
 * Runs `work` for each item with bounded concurrency; results are in input order. A failure does
 * not stop the others. At a shutdown, items in progress are finished, and no further item begins.
 * Rejects only if `work` has a bug.
 */
export async function forEach<I, T>(
  items: readonly I[],
  work: (item: I) => Promise<T>,
  run: BulkRun,
): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = []
  let next = 0
  let done = 0
  let refused: string | undefined
  const worker = async () => {
    while (next < items.length) {
      const i = next++
      const item = items[i] as I
      const stop = refused ?? reasonToStop(run) ?? (run.shutdown?.aborted ? isStopping : undefined)
      const outcome = stop
        ? { state: 'not_tried' as const, problem: stop }
        : await itemOutcome(() => work(item), run)
      if (outcome.state === 'failed' && isKeyRefused(outcome.error)) refused = outcome.problem
      outcomes[i] = outcome
      done++
      if (!stop) run.progress(done, `${done} of ${items.length} done`)
    }
  }
  const workers = Array.from({ length: Math.min(concurrency, items.length) }, worker)
  // If one worker fails with a bug, the others are still awaited, so that nothing runs after the
  // answer.
  const [defect] = (await Promise.allSettled(workers)).filter(({ status }) => status === 'rejected')
  if (defect?.status === 'rejected') throw defect.reason
  return outcomes
}

const reasonToStop = ({ signal, answerBy }: BulkRun): string | undefined => {
  if (answerBy - performance.now() < minTimePerItemMs) return 'time was up'
  return signal?.aborted ? 'the request was cancelled' : undefined
}

/** Problem of the items that are not begun because the server is stopping. */
export const isStopping = 'the server is stopping: call again'

/** True if the platform refused the API key, so that no further request can succeed. */
const isKeyRefused = (error: unknown) => isRejectedWith(error, 401)

async function itemOutcome<T>(work: () => Promise<T>, run: BulkRun): Promise<Outcome<T>> {
  try {
    return { state: 'done', value: await retriedWhileLimited(work, run) }
  } catch (error) {
    if (error instanceof Refused) return { state: 'failed', problem: problemText(error), error }
    if (!(error instanceof ApiError)) throw error
    const problem = reasonToStop(run) ?? problemText(error)
    if (mayBeDone(error)) return { state: 'unknown', problem, error }
    return error.failure.kind === 'cancelled'
      ? { state: 'not_tried', problem }
      : { state: 'failed', problem: problemText(error), error }
  }
}

/** Retries after a 429, even a change: a refused request had no effect. */
async function retriedWhileLimited<T>(work: () => Promise<T>, run: BulkRun): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await work()
    } catch (error) {
      const wait = retries < maxRetries ? waitAfter(error, retries) : undefined
      const isLate =
        wait === undefined || run.answerBy - performance.now() - wait < minTimePerItemMs
      if (isLate) throw error
      const stop = AbortSignal.any([run.signal, run.shutdown].filter((one) => one !== undefined))
      await pause(wait, stop)
      if (stop.aborted) throw error
    }
  }
}

/** Delay after a 429, ms; `undefined` for other errors. */
function waitAfter(error: unknown, retries: number): number | undefined {
  if (!(error instanceof ApiError) || !('status' in error.failure)) return undefined
  if (error.failure.status !== 429) return undefined
  const asked = 'retryAfter' in error.failure ? error.failure.retryAfter : null
  return asked === null ? 500 * 2 ** retries : asked * 1000
}

/** Longest reason of one item, in characters. */
const longestProblem = 600

/** The reason why an item failed, and the wrong argument, on one line. */
const problemText = (error: ApiError | Refused): string =>
  firstCharacters(wholeText(error), longestProblem)

function wholeText(error: ApiError | Refused): string {
  if (error instanceof Refused) {
    const { what, fields } = error.advice
    if (fields.length === 0) return what
    return fields.map(({ argument, message }) => `${argument}: ${message}`).join('; ')
  }
  const { failure } = error
  if (failure.kind !== 'rejected') return failureText(failure)
  const fields = failure.errors.map(({ field, message }) => `${argumentOf(field)}: ${message}`)
  return [`${failureText(failure)}`, ...fields].join('; ')
}

/**
 * Throws an error if every item failed: the error that all items share, or else a Refused with each
 * item's reason. `argument`: the argument that named the items.
 */
export function refuseIfNoneDone(
  outcomes: readonly NamedOutcome<unknown>[],
  argument: string,
): void {
  if (outcomes.some(({ outcome }) => outcome.state === 'done')) return
  const same = errorOfAll(outcomes)
  if (same) throw same
  const isUncertain = outcomes.some(({ outcome }) => outcome.state === 'unknown')
  const fields = outcomes.map(({ given, outcome }) => ({
    argument: `${argument} ${given}`,
    message: outcome.state === 'done' ? '' : outcome.problem,
  }))
  throw new Refused(
    isUncertain ? 'unknown_outcome' : 'all_failed',
    isUncertain
      ? `none of ${outcomes.length} is known to be done: the outcome of some is unknown`
      : `none of ${outcomes.length} was done`,
    {
      fields,
      next: 'Correct what is wrong, and call again: what is done already stays as it is.',
    },
  )
}

/** The error that all items share, unless it concerns a single item, such as a 404. */
function errorOfAll(outcomes: readonly NamedOutcome<unknown>[]): ApiError | Refused | undefined {
  const errors = outcomes.map(({ outcome }) => ('error' in outcome ? outcome.error : undefined))
  const problems = new Set(
    outcomes.map(({ outcome }) => (outcome.state === 'done' ? '' : outcome.problem)),
  )
  const [first] = errors
  if (!first || problems.size > 1 || errors.includes(undefined)) return undefined
  return isNotFound(first) ? undefined : first
}
