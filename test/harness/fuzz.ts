import fc from 'fast-check'
import { type Step, sequencesOf } from './fuzz-requests.ts'
import { type Coverage, runSequence, type SessionOptions } from './fuzz-session.ts'
import type { Operation } from './openapi.ts'

export interface FuzzOptions extends Pick<SessionOptions, 'through'> {
  /** How many sequences are tried. */
  readonly runs: number
  /** The same seed makes the same sequences. */
  readonly seed: number
}

/** Requests in one sequence, those not counted that are sent twice. */
const length = 30

/**
 * Tries sequences of requests made from the document against new sandboxes. Gives what was
 * answered how often; throws with the first reply that is wrong, the fewest requests that lead to
 * it, and the seed.
 */
export async function fuzz(
  operations: readonly Operation[],
  { runs, seed, ...how }: FuzzOptions,
): Promise<Coverage> {
  const coverage: Coverage = new Map()
  const run = (steps: readonly Step[]) => runSequence(steps, { operations, coverage, ...how })
  const found = await fc.check(fc.asyncProperty(sequencesOf(operations, length), run), {
    seed,
    numRuns: runs,
    // Failing sequences are shortened here: a short sequence explains more than small values.
    endOnFailure: true,
  })
  if (!found.failed) return coverage
  if (!found.counterexample) throw new Error('The fuzzer itself failed', { cause: found })
  const { steps, message } = await fewest(found.counterexample[0], run)
  const story = steps.map(({ method, target, key }) => `  ${method} ${target} (key ${key})`)
  const again = `FUZZ_SEED=${seed} FUZZ_RUNS=${found.numRuns}`
  throw new Error(
    `${message}\nSequence ${found.numRuns}, again with ${again}:\n${story.join('\n')}`,
  )
}

/** Leaves out every request without which a sequence still fails. */
async function fewest(
  all: readonly Step[],
  run: (steps: readonly Step[]) => Promise<void>,
): Promise<{ steps: readonly Step[]; message: string }> {
  let steps = all
  let message = await failure(run, steps)
  for (let index = all.length - 1; index >= 0; index--) {
    const fewer = steps.toSpliced(index, 1)
    const still = await failure(run, fewer)
    if (still !== null) [steps, message] = [fewer, still]
  }
  return { steps, message: message ?? 'It failed once, and not again' }
}

async function failure(
  run: (steps: readonly Step[]) => Promise<void>,
  steps: readonly Step[],
): Promise<string | null> {
  try {
    await run(steps)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
