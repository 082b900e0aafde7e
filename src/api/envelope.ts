import * as z from 'zod'
import type { FieldError } from '../contract/error.ts'
import { parseEarly } from '../json/parse-early.ts'
import type { Rejected } from './failure.ts'

/*
 * The error envelope, read leniently: what went wrong is too important to be lost over a number
 * where a string was documented. Gateways and frameworks in front of the platform send errors of
 * their own making, so the common shapes of those are understood as well.
 */

const word = z.union([z.string(), z.number()]).transform(String)

/** A refused field, also as `{ loc, msg }`, and with its path as a list. */
const LooseField = z
  .looseObject({
    field: z.union([word, z.array(word)]).optional(),
    loc: z.array(word).optional(),
    message: word.optional(),
    msg: word.optional(),
    type: word.optional(),
  })
  .transform(({ field, loc, message, msg, type }): FieldError => {
    const path = field ?? loc ?? ''
    return {
      field: Array.isArray(path) ? path.join('.') : path,
      message: message ?? msg ?? 'refused',
      type: type ?? 'unknown',
    }
  })

const LooseEnvelope = z.looseObject({
  code: word.optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  error: z.string().optional().catch(undefined),
  detail: z.unknown().optional(),
  errors: z.unknown().optional(),
})

const fieldsIn = (list: unknown): FieldError[] | undefined =>
  parseEarly(z.array(LooseField), list).data

/** The fields of an error reply that can be read; `undefined` if there is no message at all. */
export function envelopeOf(
  json: unknown,
): Pick<Rejected, 'code' | 'message' | 'detail' | 'errors'> | undefined {
  const parsed = LooseEnvelope.safeParse(json)
  if (!parsed.success) return undefined
  const { code, message, error, detail, errors } = parsed.data
  const detailText = typeof detail === 'string' ? detail : undefined
  const fields = fieldsIn(errors) ?? fieldsIn(detail) ?? []
  const text =
    message ?? error ?? detailText ?? (fields.length > 0 ? 'Fields were refused.' : undefined)
  if (text === undefined) return undefined
  return { code: code ?? 'unknown', message: text, detail: detailText ?? null, errors: fields }
}
