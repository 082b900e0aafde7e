import * as z from 'zod'
import type { ToolOutput } from '../../views/tool-output.ts'
import { clearName } from './clear-argument.ts'

/** A field in the results of tools that can clear fields. */
export const ignoredNullsShape = {
  ignored_nulls: z
    .array(z.string())
    .optional()
    .describe(`Fields given as null, which means 'not given'; ${clearName} clears.`),
}

/** How many fields the text names: a client that fills in every field sends many nulls. */
const mostNamed = 10

/** The output with a note of the nulls that were taken as not given. */
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
