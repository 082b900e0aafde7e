import { createHash } from 'node:crypto'

/**
 * An id in the form of a UUID v4 that depends on the words alone. Each job has a company of its own in
 * the same database, so the ids of its rows begin with the job's name.
 */
export function idOf(...words: readonly (string | number)[]): string {
  const hex = createHash('sha256').update(words.join('/')).digest('hex')
  const [a, b, c, d, e] = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(13, 16),
    hex.slice(17, 20),
    hex.slice(20, 32),
  ]
  return `${a}-${b}-4${c}-8${d}-${e}`
}

/** The API key of a job's company. */
export const keyOf = (job: string): string => `jobs-${job}`
