import { quote } from '../syntax/text.ts'

/** The filters, tests and globals a template may use. */
export type Vocabulary = {
  readonly filters: ReadonlySet<string>
  readonly tests: ReadonlySet<string>
  readonly globals: ReadonlySet<string>
}

/** A filter or test that does not exist. */
export type Unknown = {
  readonly type: 'unknown_filter' | 'unknown_test'
  readonly name: string
  readonly line: number
}

/** `No filter named 'uper'. Did you mean 'upper'?`, with `found` behind the name. */
export function explainUnknown(
  { type, name }: Unknown,
  found: string,
  vocabulary: Vocabulary,
): string {
  const kind = type === 'unknown_filter' ? 'filter' : 'test'
  const near = nearest(name, vocabulary[`${kind}s`])
  const suggestion = near === null ? '' : ` Did you mean ${quote(near)}?`
  return `No ${kind} named ${quote(name)}${found}.${suggestion}`
}

/** The known name most like a mistyped one, or null if none is near. */
function nearest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue
    const distance = editDistance(name, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Levenshtein's distance, counting two swapped neighbours as one edit. */
function editDistance(a: string, b: string): number {
  let older: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(
        (previous[j] ?? 0) + 1,
        (current[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + cost,
      )
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped && i > 1 && j > 1) best = Math.min(best, (older[j - 2] ?? 0) + 1)
      current.push(best)
    }
    older = previous
    previous = current
  }
  return previous[b.length] ?? 0
}
