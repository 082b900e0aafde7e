import { ProtocolError } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { clientText } from '../../text/client-text.ts'
import { closestWord } from '../../text/closest-match.ts'
import type { Prompt } from './prompt.ts'

/** Most problems that one error lists. */
const mostProblems = 5

/** Longest argument name that is shown. */
const longestName = 64

/** Parses a prompt's arguments. Throws the protocol's invalid-params error. */
export function parsePromptArguments(
  { name, input }: Prompt,
  given: Readonly<Record<string, string>>,
  pinnedAccount: string | undefined,
): Record<string, unknown> & { account_id?: unknown } {
  // Clients send an empty text for a form field that was not filled in.
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
  const text = problems.slice(0, mostProblems).join('; ')
  throw new ProtocolError(-32602, `${name}: ${text}${text.endsWith('?') ? '' : '.'}`)
}

function unknownArgument(argument: string, known: string[]): string {
  const meant = closestWord(argument, known)
  const hint = meant ? `did you mean ${meant}?` : `there are ${known.join(', ')}`
  return `there is no argument ${clientText(argument, longestName)}; ${hint}`
}

function problemOf({ path, message, input: given }: z.core.$ZodIssue, input: z.ZodObject): string {
  const argument = String(path[0])
  if (given !== undefined) return `${argument}: ${message}`
  const field = input.shape[argument]
  const what = field instanceof z.ZodType ? field.description?.replace(/\.$/, '') : undefined
  return `${argument} is required${what ? ` (${what})` : ''}`
}
