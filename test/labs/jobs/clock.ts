/**
 * Time in the seeded sandbox when a run begins: a Wednesday morning. The time is fixed, so that
 * every run has the same data, questions and answers.
 */
export const startOfRun = Date.UTC(2026, 10, 18, 9)

/** The day of `startOfRun`, as jobs write it. */
export const today = 'Wednesday, 18 November 2026'

/** Environment in which the program's clock starts at `shown` and then runs normally. */
export const clockSetTo = (shown: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
    `const now = Date.now; const shift = ${shown - Date.now()}; Date.now = () => now() + shift`,
  )}`,
})
