import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { RouteRequest } from '../contract/route.ts'
import { withoutDrift } from '../platform/drift.ts'
import { isObject } from '../text/json.ts'
import { safeLine } from '../text/safe-text.ts'
import { clearName } from './clear-argument.ts'
import { resultBudget, shortenLines, shortenResult } from './results/shortening.ts'
import type { StructuredContent, Tool, ToolOutput } from './tool.ts'

/** What a result says besides the output of the tool. */
interface ResultContext {
  readonly request: RouteRequest
  /** The account that the result names, where it names one. */
  readonly account: string | undefined
  /** A note of the pipeline, which follows the tool's own. */
  readonly note: string | undefined
  /** Dotted paths of the nulls that were taken as not given. */
  readonly ignoredNulls: readonly string[]
}

/** The output of a tool as a result: data for programs, and the same as text for a model. */
export function successResult(
  tool: Pick<Tool, 'output' | 'shortening'>,
  { structured: given, lines }: ToolOutput,
  { request, account, note, ignoredNulls }: ResultContext,
): CallToolResult {
  const promised = asPromised(tool.output(), {
    ...given,
    ...(note !== undefined && { note: [given.note, note].filter(Boolean).join(' ') }),
    ...(ignoredNulls.length > 0 && { ignored_nulls: ignoredNulls }),
  })
  const structured = account === undefined ? promised : { account_id: account, ...promised }
  if (lines === undefined) {
    const short = shortenResult(structured, { shortening: tool.shortening, request })
    return { content: [{ type: 'text', text: short.text }], structuredContent: short.structured }
  }
  const shown = [
    ...lines,
    ...(note === undefined ? [] : [note]),
    ...(ignoredNulls.length === 0 ? [] : [ignoredNullsLine(ignoredNulls)]),
  ].map(safeLine)
  const end = account === undefined ? '' : `\nAccount: ${safeLine(account)}`
  const text = `${shortenLines(shown, resultBudget)}${end}`
  return { content: [{ type: 'text', text }], structuredContent: structured }
}

/**
 * The result without fields of the platform that have a name of ours and another type: replies may have
 * any field besides the documented ones, and results keep those.
 */
function asPromised(schema: z.ZodObject, structured: StructuredContent): StructuredContent {
  if (schema.safeParse(structured).success) return structured
  const fitting = withoutDrift(schema, structured)
  return 'value' in fitting && isObject(fitting.value) ? fitting.value : structured
}

/** How many arguments a result names: a client that fills in every field sends many nulls. */
const mostNamed = 10

/** A field in the results of tools that can clear fields. */
export const ignoredNullsShape = {
  ignored_nulls: z
    .array(z.string())
    .optional()
    .describe(`Fields given as null, which means 'not given'; ${clearName} clears.`),
}

function ignoredNullsLine(nulls: readonly string[]): string {
  const named = nulls.slice(0, mostNamed).join(', ')
  const more = nulls.length > mostNamed ? ` and ${nulls.length - mostNamed} more` : ''
  return `Ignored nulls: ${named}${more}. null means 'not given'; name fields in ${clearName} to clear them.`
}

/** A field in the results of all tools. */
export const readAsShape = {
  read_as: z
    .array(z.string())
    .optional()
    .describe('Arguments that were given in another form, and how they were read.'),
}

/**
 * A result that says how arguments were read which were given in another form than the schema's. A
 * question to the person is unchanged: the result that follows says it.
 */
export function withReadings(
  result: CallToolResult | InputRequiredResult,
  readings: readonly string[],
): CallToolResult | InputRequiredResult {
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
