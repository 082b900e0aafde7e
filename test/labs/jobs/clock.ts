/**
 * The time of the furnished sandbox when a run begins: a Wednesday morning. It is fixed, so every run
 * has the same data, the same questions and the same answers.
 */
export const startOfRun = Date.UTC(2026, 10, 18, 9)

/** The same, as a job says it. */
export const today = 'Wednesday, 18 November 2026'

/** An environment in which the program's clock shows `shown` now, and goes on from there. */
export const clockSetTo = (shown: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `const now = Date.now; const shift = ${shown - Date.now()}; Date.now = () => now() + shift`,
  )}`,
})
