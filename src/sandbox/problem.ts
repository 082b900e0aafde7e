import type * as z from 'zod'
import {
  type ErrorEnvelope,
  type ErrorStatus,
  errorCodes,
  type FieldError,
} from '../contract/error.ts'
import { messageOf } from '../text/safe-text.ts'

/** Statuses of the sandbox: the documented ones, and 413, which proxies send for long bodies. */
type ProblemStatus = ErrorStatus | 413

const codes: Readonly<Record<ProblemStatus, string>> = { ...errorCodes, 413: 'payload_too_large' }

/** An error reply, in the platform's envelope. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly status: ProblemStatus
  readonly detail: string | null
  readonly errors: FieldError[] | null
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: ProblemStatus,
    message: string,
    more: { detail?: string; errors?: FieldError[]; allow?: Iterable<string> } = {},
  ) {
    super(message)
    this.status = status
    this.detail = more.detail ?? null
    this.errors = more.errors ?? null
    // Required with 405 (RFC 9110 §15.5.6).
    this.headers = more.allow ? { allow: [...more.allow].join(', ') } : {}
  }

  envelope(): ErrorEnvelope {
    return {
      code: codes[this.status],
      message: this.message,
      detail: this.detail,
      errors: this.errors,
    }
  }
}

export const notFound = (what: string, id: string) =>
  new Problem(404, `${what} not found.`, { detail: `No ${what.toLowerCase()} with id ${id}.` })

/** 404 for a body that refers to a missing resource [B], with the field in `detail` [S]. */
export const missingReference = (field: string, what: string, id: string) =>
  new Problem(404, `${what} not found.`, {
    detail: `body.${field}: no ${what.replace(/^Agent/, 'agent')} with id ${id} in this account.`,
  })

/** 422 for a valid request with a field that contradicts stored data. */
export const invalid = (field: string, message: string, type = 'value_error') =>
  new Problem(422, 'The request is not valid.', { errors: [{ field, message, type }] })

/** The file cannot be used; the message names it and the remedy. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** Parses a row. Throws if the file is damaged. */
export function parsed<T>(row: z.ZodType<T>, found: unknown): T {
  try {
    return row.parse(found)
  } catch (cause) {
    throw Object.assign(new Error('a row has invalid values', { cause }), {
      errcode: corrupt,
    })
  }
}

/** Runs a use of the file; rethrows errors as a StoreError that names the file. */
export type Guard = <T>(use: () => T) => T

export function guardOf(file: string): Guard {
  return (use) => {
    try {
      return use()
    } catch (error) {
      const code = resultCode(error)
      if (error instanceof StoreError || (code !== undefined && bugCodes.has(code))) throw error
      const advice = (code !== undefined && advices[code]) || 'Move the file away'
      throw new StoreError(
        `The sandbox database ${file} cannot be used: ${messageOf(error)}. ${advice}, or name another with ` +
          'VOICE_AGENT_SANDBOX_DB (:memory: keeps nothing).',
        { cause: error },
      )
    }
  }
}

/**
 * SQLite's primary result code of an error (https://sqlite.org/rescode.html), if it has one. File
 * system errors, from creating the folder, map to the code that SQLite uses for them.
 */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { errcode, code, syscall } = error as Error & Record<string, unknown>
  if (typeof errcode === 'number') return errcode & 0xff
  if (syscall === undefined) return undefined
  return code === 'ENOSPC' || code === 'EDQUOT' ? full : cannotOpen
}

export const busy = 5
const corrupt = 11
const full = 13
const cannotOpen = 14

/** Result codes that mean a bug in this program, not a fault of the file. */
const bugCodes: ReadonlySet<number> = new Set([1, 18, 19, 20, 21, 25])

const permission = 'Let this program read and write the file and its folder'
const damaged =
  'The file is damaged or not a database: move it away together with its -wal and -shm files'

/** Remedies, by result code. */
const advices: Readonly<Record<number, string>> = {
  3: permission,
  [busy]: 'Another program has locked it: try again, end that program',
  8: permission,
  10: 'Its disk may be full or failing, or a limit on file sizes may be reached: free space',
  [corrupt]: damaged,
  [full]: 'Free space on its disk',
  [cannotOpen]: `It must be a file, not a folder. ${permission}`,
  26: damaged,
}
