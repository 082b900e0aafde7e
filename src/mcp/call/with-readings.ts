import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { isObject } from '../../json/is-object.ts'
import { safeLine } from '../../text/safe-text.ts'

/** A field in the results of all tools. */
export const readAsShape = {
  read_as: z
    .array(z.string())
    .optional()
    .describe('Arguments that were given in another form, and how they were read.'),
}

/** How many readings a result names. */
const mostNamed = 10

/**
 * A result that says how arguments were read which were given in another form than the schema's. A
 * question to the person is unchanged: the result that follows says it.
 */
export function withReadings<Result extends CallToolResult | InputRequiredResult>(
  result: Result,
  readings: readonly string[],
): Result {
  if (readings.length === 0) return result
  const more = readings.length > mostNamed ? [`${readings.length - mostNamed} more`] : []
  const named = [...readings.slice(0, mostNamed), ...more].map(safeLine)
  const text = `Read as: ${named.join('; ')}.`
  // A task has no content yet.
  if (typeof result.statusMessage === 'string')
    return { ...result, statusMessage: `${result.statusMessage}; ${text}` }
  if (!isFinished(result)) return result
  const { structuredContent, content } = result
  return {
    ...result,
    content: [...content, { type: 'text', text }],
    ...(isObject(structuredContent) && {
      structuredContent: { ...structuredContent, read_as: named },
    }),
  }
}

const isFinished = (result: CallToolResult | InputRequiredResult): result is CallToolResult =>
  'content' in result
