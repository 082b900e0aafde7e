import * as z from 'zod'
import { ApiError, failureText, mayBeDone } from '../platform/failure.ts'
import type { AccountInTree } from '../platform/sessions/complete-lists.ts'
import { pause } from '../platform/time-limit.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { firstCharacters } from '../text/safe-text.ts'
import { hintFor, noSuch } from './references/did-you-mean.ts'
import { isNotFound, type NamingArgument } from './references/kinds.ts'
import { Refused } from './refused.ts'
import type { Run } from './tool.ts'

/** Most things that one call changes. */
export const mostThings = 100

/** How many are under way at once: few enough for a platform that limits requests. */
const atOnce = 8

/** Time that must be left of a request to begin another one, ms. */
const leastForOneMs = 2000

/** How often a request is repeated that the platform refused for being one too many (429). */
const mostRepeats = 4

/** What became of one of many things. */
export type Outcome<T> =
  | { readonly state: 'done'; readonly value: T }
  /** Nothing was changed. */
  | { readonly state: 'failed'; readonly problem: string; readonly error: ApiError | Refused }
  /** The change was sent, and whether it was made is not known. */
  | { readonly state: 'unknown'; readonly problem: string; readonly error: ApiError }
  /** It was not begun, because the time was up, the caller cancelled, or the key was refused. */
  | { readonly state: 'not_tried'; readonly problem: string }

type ManyRun = Pick<Run, 'signal' | 'answerBy' | 'progress'>

/**
 * Does the same with each thing, a few at once, and gives what became of each, in the order given.
 * One that fails does not keep the others from being done. Throws only what is a defect.
 */
export async function forEach<I, T>(
  items: readonly I[],
  work: (item: I) => Promise<T>,
  run: ManyRun,
): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = []
  let next = 0
  let done = 0
  let refused: string | undefined
  const takeTurns = async () => {
    while (next < items.length) {
      const at = next++
      const item = items[at] as I
      const stop = refused ?? reasonToStop(run)
      const outcome = stop
        ? { state: 'not_tried' as const, problem: stop }
        : await outcomeOf(() => work(item), run)
      if (outcome.state === 'failed' && isKeyRefused(outcome.error)) refused = outcome.problem
      outcomes[at] = outcome
      done++
      if (!stop) run.progress(done, `${done} of ${items.length} done`)
    }
  }
  const turns = Array.from({ length: Math.min(atOnce, items.length) }, takeTurns)
  // After a defect the others are finished, so that nothing goes on behind the answer.
  const [defect] = (await Promise.allSettled(turns)).filter(({ status }) => status === 'rejected')
  if (defect?.status === 'rejected') throw defect.reason
  return outcomes
}

const reasonToStop = ({ signal, answerBy }: ManyRun): string | undefined => {
  if (answerBy - performance.now() < leastForOneMs) return 'time was up'
  return signal?.aborted ? 'the request was cancelled' : undefined
}

/** No other request would succeed with this key. */
const isKeyRefused = (error: ApiError | Refused) =>
  error instanceof ApiError && error.failure.kind === 'rejected' && error.failure.status === 401

async function outcomeOf<T>(work: () => Promise<T>, run: ManyRun): Promise<Outcome<T>> {
  try {
    return { state: 'done', value: await repeatedWhileLimited(work, run) }
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

/** A request that was refused with 429 was not carried out, so it is sent again, also a change. */
async function repeatedWhileLimited<T>(work: () => Promise<T>, run: ManyRun): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await work()
    } catch (error) {
      const wait = repeats < mostRepeats ? waitAfter(error, repeats) : undefined
      const isLate = wait === undefined || run.answerBy - performance.now() - wait < leastForOneMs
      if (isLate) throw error
      await pause(wait, run.signal)
      if (run.signal?.aborted) throw error
    }
  }
}

/** How long to wait after a 429, ms; `undefined`: it was something else. */
function waitAfter(error: unknown, repeats: number): number | undefined {
  if (!(error instanceof ApiError) || !('status' in error.failure)) return undefined
  if (error.failure.status !== 429) return undefined
  const asked = 'retryAfter' in error.failure ? error.failure.retryAfter : null
  return asked === null ? 500 * 2 ** repeats : asked * 1000
}

/** Longest reason that is given for one of many things, in characters. */
const longestProblem = 600

/** Why one of many things failed, as one line: what is wrong, and in which argument. */
function problemText(error: ApiError | Refused): string {
  return firstCharacters(wholeText(error), longestProblem)
}

function wholeText(error: ApiError | Refused): string {
  if (error instanceof Refused) {
    const { what, fields } = error.advice
    if (fields.length === 0) return what
    return fields.map(({ argument, message }) => `${argument}: ${message}`).join('; ')
  }
  const { failure } = error
  if (failure.kind !== 'rejected') return failureText(failure)
  const fields = failure.errors.map(
    ({ field, message }) => `${field.replace(/^(body|query|path)\./, '')}: ${message}`,
  )
  return [`${failureText(failure)}`, ...fields].join('; ')
}

/** The outcome of one thing, and how the caller named it. */
export interface NamedOutcome<T> {
  readonly given: string
  readonly outcome: Outcome<T>
}

/**
 * Throws where nothing was done: the error that all have, else one that names each thing with its
 * reason. `argument` is the argument that named them.
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
      ? `none of ${outcomes.length} is certain to be done: what became of some is not known`
      : `none of ${outcomes.length} was done`,
    {
      fields,
      next: 'Correct what is wrong, and call again: what is done already stays as it is.',
    },
  )
}

/** The error, if it is the same for all and says nothing of a single thing, such as that it is missing. */
function errorOfAll(outcomes: readonly NamedOutcome<unknown>[]): ApiError | Refused | undefined {
  const errors = outcomes.map(({ outcome }) => ('error' in outcome ? outcome.error : undefined))
  const problems = new Set(
    outcomes.map(({ outcome }) => (outcome.state === 'done' ? '' : outcome.problem)),
  )
  const [first] = errors
  if (!first || problems.size > 1 || errors.includes(undefined)) return undefined
  const isOfOne =
    first instanceof ApiError && 'status' in first.failure && first.failure.status === 404
  return isOfOne ? undefined : first
}

/** The outcome of a thing that does not exist says so, with what may be meant. */
export async function withMissingHint<T>(
  outcome: Outcome<T>,
  { argument, given }: { readonly argument: NamingArgument; readonly given: string },
  { request, restricted }: Pick<Run, 'request' | 'restricted'>,
): Promise<Outcome<T>> {
  if (outcome.state !== 'failed' || !(outcome.error instanceof ApiError)) return outcome
  // Where the thing was read, a change of it fails because of something that the change names.
  if (!isNotFound(outcome.error) || outcome.error.method !== 'GET') return outcome
  const hint = await hintFor(argument, given, request, restricted)
  const problem = [noSuch(argument, given, restricted), hint].filter(Boolean).join(' ')
  return { ...outcome, problem }
}

/** An argument that says which of many things are meant. */
export const manyIds = z.array(z.string().min(1)).min(1).max(mostThings).optional()

/** One of many things that are meant, or why it is not known which one is. */
export interface SelectedThing {
  /** As it was given: an id or a name. */
  readonly given: string
  readonly id?: string
  /** Whose it is, where things of several accounts can be meant. */
  readonly account?: AccountInTree
  readonly problem?: string
}

export interface ThingsOnce {
  readonly things: readonly SelectedThing[]
  /** What means a thing that was named before: it is not done twice. */
  readonly repeated: readonly string[]
}

/** Each thing once, however often and by whatever it is named. */
export function eachOnce(things: readonly SelectedThing[]): ThingsOnce {
  const keys = things.map(
    ({ id, given, account }) => `${canonicalId(id ?? given)} ${account?.id ?? ''}`,
  )
  const isFirst = (_: SelectedThing, at: number) => keys.indexOf(keys[at] ?? '') === at
  return {
    things: things.filter(isFirst),
    repeated: things.filter((one, at) => !isFirst(one, at)).map(({ given }) => given),
  }
}
