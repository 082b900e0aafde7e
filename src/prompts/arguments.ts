import { ProtocolError } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { e164 } from '../contract/field.ts'
import { clientText } from '../text/client-text.ts'
import { closestWord } from '../text/closest-match.ts'
import type { Prompt } from './prompt.ts'

/** An agent, a trunk, a call: whatever is named by its id, and where that works by its name. */
export const reference = (what: string) => z.string().max(200).describe(what)

export const agentReference = reference('Agent: its id or exact name.')

export { e164 }

/** A time zone as the platform takes it: what Intl knows, bare offsets left out. */
export const timeZone = z
  .string()
  .refine(isTimeZone, { error: ({ input }) => notAZone(String(input)) })
  .optional()
  .describe('IANA time zone, such as Europe/Berlin. Default UTC.')

function isTimeZone(zone: string): boolean {
  if (/^[+-]/.test(zone)) return false
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }))
  } catch {
    return false
  }
}

function notAZone(zone: string): string {
  const cities = new Map(
    Intl.supportedValuesOf('timeZone').map((known) => [known.split('/').at(-1) ?? known, known]),
  )
  const meant =
    zone.length > 64 ? undefined : closestWord(zone.split('/').at(-1) ?? '', [...cities.keys()])
  const hint = meant ? `did you mean ${cities.get(meant)}?` : 'give one such as Europe/Berlin'
  return `${clientText(zone, 64)} is no IANA time zone; ${hint}`
}

/** Reads a prompt's arguments; what is wrong with them is the protocol's invalid-params error. */
export function parseArguments(
  { name, input }: Prompt,
  given: Readonly<Record<string, string>>,
  pinnedAccount: string | undefined,
): Record<string, unknown> & { account_id?: unknown } {
  // Clients send an empty text for a field of their form that was not filled in.
  const filled = Object.entries(given).flatMap(([argument, value]) =>
    value.trim() === '' ? [] : [[argument, value.trim()] as const],
  )
  const known = Object.keys(input.shape)
  const problems = filled
    .filter(([argument]) => !known.includes(argument))
    .map(([argument]) => unknownArgument(argument, known))
  const args = Object.fromEntries(filled)
  if (pinnedAccount !== undefined && (args.account_id ?? pinnedAccount) !== pinnedAccount) {
    problems.push(`account_id: this server acts on ${pinnedAccount} only`)
  }
  const parsed = input.safeParse(args, { reportInput: true })
  if (!parsed.success) {
    for (const issue of parsed.error.issues) problems.push(problemOf(issue, input))
  }
  if (problems.length === 0 && parsed.success) return parsed.data
  const told = problems.slice(0, 5).join('; ')
  throw new ProtocolError(-32602, `${name}: ${told}${told.endsWith('?') ? '' : '.'}`)
}

function unknownArgument(argument: string, known: string[]): string {
  const meant = argument.length > 64 ? undefined : closestWord(argument, known)
  const hint = meant ? `did you mean ${meant}?` : `there are ${known.join(', ')}`
  return `there is no argument ${clientText(argument, 64)}; ${hint}`
}

function problemOf({ path, message, input: given }: z.core.$ZodIssue, input: z.ZodObject): string {
  const argument = String(path[0])
  if (given !== undefined) return `${argument}: ${message}`
  const field = input.shape[argument]
  const what = field instanceof z.ZodType ? field.description?.replace(/\.$/, '') : undefined
  return `${argument} is required${what ? ` (${what})` : ''}`
}
