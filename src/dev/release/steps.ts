import { styleText } from 'node:util'
import { messageOf } from '../../text/safe-text.ts'

/**
 * Result of a step. A failing step throws.
 * - `done`: the condition holds
 * - `open`: a person must act before the release
 * - `left out`: not part of this run
 */
export interface Outcome {
  readonly state: 'done' | 'open' | 'left out'
  readonly text: string
}

export interface Step {
  readonly title: string
  readonly run: () => Promise<Outcome> | Outcome
}

export type Result = Outcome['state'] | 'failed'

const marks = { done: '✓', open: '!', 'left out': '–', failed: '✗' } as const
const colors = { done: 'green', open: 'yellow', 'left out': 'gray', failed: 'red' } as const

/** Runs the steps in order and reports each outcome. Stops at the first failure. */
export async function runSteps(
  steps: readonly Step[],
  write: (text: string) => void,
): Promise<Result[]> {
  const results: Result[] = []
  for (const { title, run } of steps) {
    const { state, text } = await outcomeOf(run)
    const mark = styleText(colors[state], marks[state])
    write(`${mark} ${title}: ${text.replaceAll('\n', '\n  ')}\n`)
    results.push(state)
    if (state === 'failed') break
  }
  return results
}

async function outcomeOf(run: Step['run']): Promise<{ state: Result; text: string }> {
  try {
    return await run()
  } catch (error) {
    return { state: 'failed', text: messageOf(error) }
  }
}
