import type { CallToolResult } from '@modelcontextprotocol/server'
import type { RouteRequest } from '../../contract/route.ts'
import { safeLine } from '../../text/safe-text.ts'
import {
  type ItemShortening,
  resultBudget,
  type ShortResult,
  shortenLines,
  shortenResult,
} from '../../views/shorten-result.ts'
import type { ToolOutput } from '../../views/tool-output.ts'

interface ResultContext {
  readonly request: RouteRequest
  /** The account that the result names, where it names one. */
  readonly account: string | undefined
  readonly shortening: ItemShortening | undefined
}

/** The output of a tool as a result: data for programs, and the same as text for a model. */
export function successResult(output: ToolOutput, context: ResultContext): CallToolResult {
  const { structured, text } = shortened(output, context)
  return { content: [{ type: 'text', text }], structuredContent: structured }
}

function shortened(
  { structured, lines }: ToolOutput,
  { request, account, shortening }: ResultContext,
): ShortResult {
  const named = account === undefined ? structured : { account_id: account, ...structured }
  if (lines === undefined) return shortenResult(named, { shortening, request })
  const text = shortenLines(lines.map(safeLine), resultBudget)
  const end = account === undefined ? '' : `\nAccount: ${safeLine(account)}`
  return { structured: named, text: `${text}${end}` }
}

/** The output with one more note, in the data and in the text; `undefined` adds none. */
export function withNote(output: ToolOutput, note: string | undefined): ToolOutput {
  if (note === undefined) return output
  const { structured, lines } = output
  const notes = [structured.note, note].filter(Boolean).join(' ')
  return {
    structured: { ...structured, note: notes },
    ...(lines && { lines: [...lines, note] }),
  }
}
