import type { CallToolResult } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { mayBeCarriedOut } from '../../api/may-be-done.ts'
import { exitCodes } from '../../config/exit-codes.ts'
import { isObject } from '../../json/is-object.ts'
import { errorMetaKey } from '../../mcp/call/error-result.ts'
import type { Tool } from '../../mcp/call/tool.ts'
import { outcomeOf } from '../../mcp/protocol/call-outcome.ts'
import { safeJsonLines, safeLines } from '../../text/safe-text.ts'
import { exitCodeOf } from './exit-code.ts'
import { resultText } from './result-text.ts'
import type { Terminal } from './terminal.ts'

/** As much of an error as decides what it means for the command. All of it is made by this server. */
const ErrorFacts = z.looseObject({
  kind: z.string(),
  /** Of the request that failed. */
  method: z.string().optional(),
  maybeSent: z.boolean().optional(),
  status: z.number().optional(),
})
type ErrorFacts = z.output<typeof ErrorFacts>

/** Prints what a call has come to, and gives the exit code. */
export async function printAnswer(
  tool: Pick<Tool, 'name' | 'effect'>,
  result: CallToolResult,
  { terminal, wantsJson }: { readonly terminal: Terminal; readonly wantsJson: boolean },
): Promise<number> {
  const error = ErrorFacts.safeParse(result._meta?.[errorMetaKey]).data
  const word = outcomeOf({ result })
  const code = exitCodeOf({ word, result, mayBeDone: tool.effect !== 'reads' && mayBeDone(error) })
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  const data = isObject(result.structuredContent) ? result.structuredContent : undefined
  if (wantsJson) {
    const json = result.isError ? { error: error ?? { kind: 'failed' } } : (data ?? {})
    await terminal.print(safeJsonLines(json))
  }
  if (word !== 'ok') terminal.warn(problemText(word, { text, data }, terminal))
  else if (!wantsJson) {
    const { width = Number.POSITIVE_INFINITY, styled } = terminal
    await terminal.print(
      resultText(text, data, { width, styleHead: (head) => styled('bold', head) }),
    )
  }
  // Of several things; an error says it itself.
  if (code === exitCodes.unknown && word === 'ok')
    terminal.warn('Of some it is not known whether it was done: look before you do it again.')
  return code
}

/** Whether the platform may have made the change although the request failed. */
const mayBeDone = (error: ErrorFacts | undefined): boolean =>
  error?.method !== undefined && error.method !== 'GET' && mayBeCarriedOut(error)

/** Why a call was not done, for a person at a terminal. */
function problemText(
  word: string,
  { text, data }: { readonly text: string; readonly data: unknown },
  { styledWarning }: Terminal,
): string {
  const lines = text.split('\n')
  switch (word) {
    case 'confirmation_needed':
      return safeLines([...previewOf(lines), ...howToConfirm(Preview.parse(data))])
    case 'confirmation_declined':
    case 'confirmation_dismissed':
      return 'Not confirmed. Nothing was done.'
    case 'needs_person':
      return 'A person has to agree to this (--confirm person), and there is no terminal to ask one. Nothing was done.'
    default: {
      const [first = '', ...rest] = lines
      return [styledWarning('red', safeLines([first])), safeLines(rest)].filter(Boolean).join('\n')
    }
  }
}

/** The preview ends with what a client has to do, and the token: see mcp/call/confirmation-results.ts. */
const previewOf = (lines: readonly string[]) => lines.slice(0, -2)

/** As much of its data as is shown otherwise here. */
const Preview = z.object({ confirmation: z.object({ confirm_token: z.string() }) })

const howToConfirm = ({ confirmation }: z.output<typeof Preview>): string[] => [
  'Next: if the person agrees, run the same command within two minutes with',
  `--confirm-token ${confirmation.confirm_token}`,
]
