/**
 * The values for property tests: always the same ones, so that a failure is due to
 * the change. PROPERTY_SEED tries others (`any`: new ones every time), and
 * PROPERTY_RUNS that many times as many.
 */
const { PROPERTY_SEED: seed = '20261121', PROPERTY_RUNS: times = '1' } = process.env

/** How a property is tried, on as many values as are given. */
export const tries = (runs: number): { numRuns: number; seed?: number } => ({
  numRuns: runs * Number(times),
  ...(seed !== 'any' && { seed: Number(seed) }),
})
