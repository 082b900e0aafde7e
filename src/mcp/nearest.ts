import { distance } from 'fastest-levenshtein'

/** The known word a mistaken one most likely means; `undefined` when none is close. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const folded = fold(word)
  let best: string | undefined
  let least = Math.max(1, Math.floor(folded.length / 3)) + 1
  for (const candidate of known) {
    const steps = distance(folded, fold(candidate))
    if (steps < least) {
      best = candidate
      least = steps
    }
  }
  return best
}

/** `agentId`, `agent-id` and `agent_id` are one word. */
const fold = (word: string) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
