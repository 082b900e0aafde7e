import * as z from 'zod'
import { agentNames, timeZones } from '../mcp/completions.ts'
import type { PromptArgument } from '../mcp/prompt-definition.ts'
import { isTimeZone, notATimeZone } from '../text/time-zone.ts'

/** An argument that takes an id or a name. */
export const reference = (description: string) => z.string().max(200).describe(description)

export const agentArgument = {
  schema: reference('Agent: its id or exact name.'),
  completion: agentNames,
}

/** An IANA time zone that Intl knows. The platform takes no bare offset such as +02:00. */
export const timeZoneArgument = {
  schema: z
    .string()
    .refine(isTimeZone, { error: ({ input }) => notATimeZone(String(input)) })
    .optional()
    .describe('IANA time zone, such as Europe/Berlin. Default UTC.'),
  completion: timeZones,
} satisfies PromptArgument
