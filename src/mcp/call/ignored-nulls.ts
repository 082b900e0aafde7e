import * as z from 'zod'
import type { ToolOutput } from '../../views/tool-output.ts'
import { clearName } from './clear-argument.ts'

/** What the results of tools that can clear fields may say besides. */
export const ignoredNullsShape = {
  ignored_nulls: z
    .array(z.string())
    .optional()
    .describe(`Fields given as null, which means 'not given'; ${clearName} clears.`),
}

/** Fields that a text names; a client that fills in every field has many. */
const mostNamed = 10

/** A result that says which nulls were taken as not given. */
export function withIgnoredNulls(output: ToolOutput, nulls: readonly string[]): ToolOutput {
  if (nulls.length === 0) return output
  const { lines, structured } = output
  const named = nulls.slice(0, mostNamed).join(', ')
  const more = nulls.length > mostNamed ? ` and ${nulls.length - mostNamed} more` : ''
  const line = `Ignored nulls: ${named}${more}. null means 'not given'; name fields in ${clearName} to clear them.`
  return {
    ...output,
    structured: { ...structured, ignored_nulls: nulls },
    ...(lines && { lines: [...lines, line] }),
  }
}
