import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

/**
 * One line of a log: a client's record of one request. `in` and `out` are the lengths of the
 * arguments and of the result, characters.
 */
const LogLine = z.looseObject({
  verb: z.string(),
  in: z.int().default(0),
  out: z.int().default(0),
  error: z.boolean().default(false),
})

/** The effort of a job. */
export interface Effort {
  readonly calls: number
  readonly errors: number
  /** Length of all arguments, characters. */
  readonly in: number
  /** Length of all results, characters. */
  readonly out: number
}

export const noEffort: Effort = { calls: 0, errors: 0, in: 0, out: 0 }

export const sumOf = (efforts: readonly Effort[]): Effort =>
  efforts.reduce(
    (sum, one) => ({
      calls: sum.calls + one.calls,
      errors: sum.errors + one.errors,
      in: sum.in + one.in,
      out: sum.out + one.out,
    }),
    noEffort,
  )

/**
 * Reads the effort from a job's log, `NAME.jsonl` in the folder of logs; `undefined` without a log.
 */
export function effortOf(logs: string, job: string): Effort | undefined {
  const file = join(logs, `${job}.jsonl`)
  if (!existsSync(file)) return undefined
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const calls = lines
    .map((line) => LogLine.parse(JSON.parse(line)))
    .filter(({ verb }) => verb === 'call')
  return sumOf(
    calls.map((call) => ({
      calls: 1,
      errors: Number(call.error),
      in: call.in,
      out: call.out,
    })),
  )
}
