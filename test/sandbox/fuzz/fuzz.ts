import fc from 'fast-check'
import type { Operation } from '../../harness/openapi.ts'
import { type Step, sequencesOf } from './random-requests.ts'
import { type Coverage, runSequence, type SequenceOptions } from './sequence-run.ts'

export interface FuzzOptions extends Pick<SequenceOptions, 'through'> {
  /** Number of sequences. */
  readonly runs: number
  /** Seed of the generator; equal seeds give equal sequences. */
  readonly seed: number
}

/** Requests per sequence, not counting repetitions. */
const length = 30

/**
 * Runs generated sequences of requests against new sandboxes. Returns the coverage. Throws at the
 * first wrong reply, with the shortest sequence that leads to it and the seed.
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
    // `fewest` shortens failing sequences: a short sequence explains more than small values.
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

/** Removes every request that a sequence does not need to fail. */
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
