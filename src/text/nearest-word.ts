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
  return best ?? containing(folded, known)
}

/** The one known word that holds this one or is held by it, as `id` is by `agent_id`. */
function containing(folded: string, known: readonly string[]): string | undefined {
  if (folded.length < 2) return undefined
  const related = known.filter((candidate) => {
    const other = fold(candidate)
    return other.endsWith(folded) || other.startsWith(folded) || folded.endsWith(other)
  })
  return related.length === 1 ? related[0] : undefined
}

/** The known word that differs in spelling only: `voiceId` for `voice_id`. */
export function sameWord(word: string, known: readonly string[]): string | undefined {
  return known.find((candidate) => fold(candidate) === fold(word))
}

/** `agentId`, `agent-id` and `agent_id` are one word. */
export const fold = (word: string) => word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
