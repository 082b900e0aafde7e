import type { CallToolResult } from '@modelcontextprotocol/server'
import type { RouteRequest } from '../../contract/route.ts'
import { safeLine } from '../../text/safe-text.ts'
import { boundedLines } from '../../views/bounded.ts'
import { type Cut, type Fitted, resultBudget, shortened } from '../../views/fit.ts'
import type { ToolOutput } from '../../views/tool-output.ts'

interface ResultContext {
  readonly request: RouteRequest
  /** The account that the result names, where it names one. */
  readonly account: string | undefined
  readonly cut: Cut | undefined
}

/** The output of a tool as a result: data for programs, and the same as text for a model. */
export function successResult(output: ToolOutput, context: ResultContext): CallToolResult {
  const { structured, text } = fitted(output, context)
  return { content: [{ type: 'text', text }], structuredContent: structured }
}

function fitted(
  { structured, lines }: ToolOutput,
  { request, account, cut }: ResultContext,
): Fitted {
  const named = account === undefined ? structured : { account_id: account, ...structured }
  if (lines === undefined) return shortened(named, { cut, request })
  const text = boundedLines(lines.map(safeLine), resultBudget)
  const end = account === undefined ? '' : `\nAccount: ${safeLine(account)}`
  return { structured: named, text: `${text}${end}` }
}

/** The output with one more note; `undefined` adds none. */
export function withNote(output: ToolOutput, note: string | undefined): ToolOutput {
  if (note === undefined) return output
  const notes = [output.structured.note, note].filter(Boolean).join(' ')
  return { ...output, structured: { ...output.structured, note: notes } }
}
