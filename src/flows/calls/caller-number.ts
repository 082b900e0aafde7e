import * as z from 'zod'
import { isE164 } from '../../contract/field.ts'
import { badArguments } from '../../mcp/call/refused.ts'

/** The caller number of a call, as callers give it; the request has the number itself. */
export const callerNumber = {
  from_number: z
    .string()
    .min(1)
    .optional()
    .describe('phone: your number to call from, E.164 or its exact name.'),
}

/** Throws Refused where the caller number is neither a number nor the name of one. */
export function refuseNoNumber(number: string | undefined): void {
  if (number === undefined || isE164(number)) return
  const message = `${JSON.stringify(number)} is neither an E.164 number such as +4930123456 nor the exact name of one of your numbers (list_phone_numbers)`
  throw badArguments([{ argument: 'from_number', message }])
}
