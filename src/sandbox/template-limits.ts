/**
 * What parsing and checking one template may take. The sandbox shares its process with other
 * requests, so it allows a quarter of what the engine does: some 0.1 s and 20 MB on a slow machine.
 * A prompt of 100 kB with a variable and a condition in every line takes 80,000 steps.
 */
export const templateLimits = { maxSteps: 500_000, maxLength: 1_048_576 } as const
