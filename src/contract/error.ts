import * as z from 'zod'

/**
 * One field that the platform refused [B]. `field` is a path such as `body.name` or `query.page`.
 */
export const FieldError = z.looseObject({
  field: z.string().describe('Path, such as body.name, query.limit, path.agent_id.'),
  message: z.string().describe('Problem of the field.'),
  type: z.string().describe('Kind: value_error, type_error, missing, …'),
})
export type FieldError = z.output<typeof FieldError>

/** Shape of every platform error [B]. Not all codes are published, so any string is accepted. */
export const ErrorEnvelope = z.looseObject({
  code: z.string().describe('Machine-readable code, such as not_found or validation_error.'),
  message: z.string().describe('What went wrong, for people.'),
  detail: z.string().nullish().describe('Further details, if any.'),
  errors: z.array(FieldError).nullish().describe('Refused fields, for validation errors.'),
})
export type ErrorEnvelope = z.output<typeof ErrorEnvelope>

/** Statuses of platform errors ([B], but 405 and 429 [R]), and the sandbox's code for each [S]. */
export const errorCodes = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  422: 'validation_error',
  429: 'rate_limit_exceeded',
  500: 'internal_error',
} as const

export type ErrorStatus = keyof typeof errorCodes
