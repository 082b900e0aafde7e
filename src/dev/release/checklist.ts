import { styleText } from 'node:util'

/**
 * What became of a step:
 * - `done`: it holds
 * - `open`: a person has to do something before the release
 * - `left out`: not part of this run
 * A step that fails throws.
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

/** Does the steps in order, and says what became of each. The first that fails is the last that is done. */
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
    return { state: 'failed', text: error instanceof Error ? error.message : String(error) }
  }
}
