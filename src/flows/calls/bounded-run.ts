import type { Run } from '../../mcp/call/tool.ts'

/** It is answered before clients give up. */
export interface Bounded {
  /** At the latest then, by the clock of `performance.now`, ms. */
  readonly until: number
}

export const bounded = <R extends Pick<Run, 'answerBy'>>(run: R): R & Bounded => ({
  ...run,
  until: run.answerBy,
})
