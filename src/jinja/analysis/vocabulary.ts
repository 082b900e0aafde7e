/** The filters, tests and globals a template may use. */
export type Vocabulary = {
  readonly filters: ReadonlySet<string>
  readonly tests: ReadonlySet<string>
  readonly globals: ReadonlySet<string>
}

/** The known name most like a mistyped one, or null if none is near. */
export function nearest(name: string, known: Iterable<string>): string | null {
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
