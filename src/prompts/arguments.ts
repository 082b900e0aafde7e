import * as z from 'zod'
import { e164 } from '../contract/field.ts'
import { agentNames, callIds, ownNumbers, timeZones, trunkIds } from '../mcp/completions.ts'
import type { PromptArgument } from '../mcp/prompt.ts'
import { isTimeZone, notATimeZone } from '../text/time-zone.ts'

const reference = (description: string) => z.string().max(200).describe(description)

export const agentArgument = {
  schema: reference('Agent: its id or exact name.'),
  completion: agentNames,
}

export const callArgument = {
  schema: reference('Call id, from list_calls.'),
  completion: callIds,
}

export const trunkArgument = (description: string) => ({
  schema: reference(description),
  completion: trunkIds,
})

export const ownNumberArgument = (description: string) => ({
  schema: e164(description),
  completion: ownNumbers,
})

/** A number that is not the account's: no list has values for it. */
export const optionalNumberArgument = (description: string) => ({
  schema: e164(description).optional(),
})

/** A time zone as the platform takes it: one that Intl knows, and no bare offset. */
export const timeZoneArgument = {
  schema: z
    .string()
    .refine(isTimeZone, { error: ({ input }) => notATimeZone(String(input)) })
    .optional()
    .describe('IANA time zone, such as Europe/Berlin. Default UTC.'),
  completion: timeZones,
} satisfies PromptArgument
