import { ApiError } from '../../api/failure.ts'
import { mayBeDone } from '../../api/may-be-done.ts'
import { pause } from '../../api/time-limit.ts'
import { Refused } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { problemText } from './problem-text.ts'

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
