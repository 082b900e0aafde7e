/**
 * Property tests use fixed values, so that a failure is due to the change. PROPERTY_SEED selects
 * other values (`any`: new ones on each run); PROPERTY_RUNS multiplies their number.
 */
const { PROPERTY_SEED: seed = '20261121', PROPERTY_RUNS: times = '1' } = process.env

/** Options of fast-check for a property with this number of values. */
export const tries = (runs: number): { numRuns: number; seed?: number } => ({
  numRuns: runs * Number(times),
  ...(seed !== 'any' && { seed: Number(seed) }),
})
