/*
 * Makes what two runs show comparable: ids are numbered in the order in which they appear, and
 * times, durations, tokens and ports become placeholders.
 */

const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, 'id'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?/g, 'time'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'day'],
  [/\b\d\d:\d\d:\d\d(\.\d+)?\b/g, 'clock'],
  [/127\.0\.0\.1:\d+|localhost:\d+/g, 'address'],
  [/\b(marks|untrusted-speech) [0-9a-f]{12}\b/g, 'mark'],
  [/\b(batch|auto)-[0-9a-f]{12,24}\b/g, 'call key'],
  [/\b[0-9a-f]{8}-\d+\b/g, 'request'],
  [/"(ms|duration_seconds|duration_ms|seconds|minutes)\\?":\s*\d+(\.\d+)?/g, 'duration'],
  [/\b[0-9a-f]{16,}\b/g, 'hash'],
  // Tokens, hashes and other long random words.
  [/[A-Za-z0-9_-]{40,}(\.[A-Za-z0-9_-]+)*/g, 'token'],
]

/** Values that differ from run to run, by the name of their field. */
const runFields =
  /^(ms|duration_seconds|duration_ms|seconds|bytes|size|length|content-length|date|process|pid|mtime|request_id|trace_id|span_id|session|time|started|uptime\w*)$/

/** The same value, with placeholders; equal ids stay equal. */
export function stable(value: unknown): unknown {
  const numbered = new Map<string, string>()
  const stableText = (text: string): string => {
    let result = text
    for (const [pattern, word] of patterns) {
      result = result.replace(pattern, (found) => {
        if (word !== 'id') return `<${word}>`
        const name = numbered.get(found) ?? `<id ${numbered.size + 1}>`
        numbered.set(found, name)
        return name
      })
    }
    return result.replace(/\b\d+(\.\d+)? (ms|s|min)\b/g, '<n> $2')
  }
  const walk = (given: unknown, name = ''): unknown => {
    if (typeof given === 'string') return runFields.test(name) ? '<run>' : stableText(given)
    if (typeof given === 'number') return runFields.test(name) ? '<run>' : given
    if (Array.isArray(given)) return given.map((item) => walk(item))
    if (typeof given !== 'object' || given === null) return given
    return Object.fromEntries(
      Object.entries(given).map(([key, inner]) => [stableText(key), walk(inner, key)]),
    )
  }
  return walk(value)
}
