import type * as z from 'zod'
import { DuplicateKeyError, parseJsonText } from '../json/unique-keys.ts'
import { closestWord } from '../text/closest-match.ts'
import { DialPolicyConfig, QuietHours } from './dial-policy-config.ts'

/** The dial policy cannot be used; the message says where it is, which field, and what to write. */
export class DialPolicyError extends Error {
  override readonly name = 'DialPolicyError'
}

/** Reads a policy from JSON text; `source` says where it is, for errors. Throws DialPolicyError. */
export function parseDialPolicy(text: string, source: string): DialPolicyConfig {
  let value: unknown
  try {
    value = parseJsonText(text)
  } catch (error) {
    if (error instanceof DuplicateKeyError) throw unusable(source, error.message)
    const reason = error instanceof Error ? error.message : String(error)
    throw new DialPolicyError(
      `The dial policy (${source}) is not JSON: ${reason}. Write an object such as {"allow_countries": ["DE"], "max_per_hour": 10}.`,
    )
  }
  const parsed = DialPolicyConfig.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.flatMap(problemsOf)
  throw unusable(source, problems.join('; '))
}

const unusable = (source: string, problems: string) =>
  new DialPolicyError(
    `The dial policy (${source}) cannot be used: ${problems}. Correct it and start again.`,
  )

function problemsOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys') return [`${path || 'the whole'}: ${issue.message}`]
  const known = Object.keys((path ? QuietHours : DialPolicyConfig).shape)
  return issue.keys.map((key) => {
    const meant = closestWord(key, known)
    const hint = meant ? `did you mean ${meant}?` : `the fields are ${known.join(', ')}`
    return `${path ? `${path}.` : ''}${key}: unknown field; ${hint}`
  })
}
