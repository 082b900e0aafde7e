import { type CallToolResult, ProtocolError } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { tools } from '../../../tools/index.ts'
import { outcomeOf, targetsOf } from '../../mcp/tool-calls.ts'
import { mayBeCarriedOut } from '../../platform/failure.ts'
import type { PersonsAnswer, ToolService } from '../../server/tool-service.ts'
import { isObject } from '../../text/json.ts'
import { safeJsonLines, safeLines } from '../../text/safe-text.ts'
import { errorMetaKey } from '../../tool/result.ts'
import type { Tool } from '../../tool/tool.ts'
import { CommandLineError } from '../config/config-error.ts'
import { exitCodes } from '../config/exit-codes.ts'
import { commandLine, withCommandLines } from '../config/launch-command.ts'
import type { ServiceConfig } from '../config/service-settings.ts'
import { resultText } from './result-text.ts'
import { InterruptedError, type StatusLine, type Terminal } from './terminal-io.ts'
import { readToolArguments, type ToolArguments, toolNamed } from './tool-arguments.ts'

export interface CallCommand {
  readonly tool: string
  /** Words after the tool's name. */
  readonly words: readonly string[]
  readonly config: ServiceConfig
}

interface CallParts {
  readonly terminal: Terminal
  readonly openService: () => Promise<Pick<ToolService, 'callLocally' | 'close'>>
  /** Fires with Ctrl+C. */
  readonly signal: AbortSignal
}

/** Runs a tool from the command line, prints the result and returns the exit code. */
export async function runCall(
  { tool: name, words, config }: CallCommand,
  parts: CallParts,
): Promise<number> {
  const { terminal } = parts
  const tool = toolNamed(name, tools)
  try {
    const given = await readToolArguments(words, tool, terminal)
    if (given.wantsHelp) {
      const { toolHelp } = await import('./tool-help.ts')
      await terminal.print(toolHelp(tool, { width: terminal.width, account: config.scope.account }))
      return exitCodes.done
    }
    return await callAndPrint(tool, given, parts)
  } catch (error) {
    if (!(error instanceof CommandLineError)) throw error
    if (words.includes('--json')) await terminal.print(safeJsonLines(mistake(tool, error)))
    terminal.warn(safeLines([`voice-agent-mcp: ${error.message}`]))
    terminal.warn(await helpHint(tool))
    return exitCodes.usage
  }
}

/** A command line error as JSON, in the form of the tool's argument errors. */
const mistake = (tool: Tool, { message }: CommandLineError) => ({
  error: { kind: 'bad_arguments', tool: tool.name, fields: [], next: message, retryable: false },
})

/** Usage of the tool. Loads the help code lazily. */
async function helpHint(tool: Tool): Promise<string> {
  const { usageLine } = await import('./tool-help.ts')
  return `${usageLine(tool)}\nAll arguments: ${commandLine(`tools ${tool.name}`)}`
}

async function callAndPrint(
  tool: Tool,
  { arguments: args, wantsJson }: ToolArguments,
  { terminal, openService, signal }: CallParts,
): Promise<number> {
  const service = await openService()
  const waiting = showWaiting(tool.name, terminal.statusLine)
  const person = askingPerson(terminal)
  const { ask } = person
  try {
    const result = await service
      .callLocally(
        { tool: tool.name, arguments: args },
        {
          ask: ask && ((question) => waiting.without(() => ask(question))),
          progress: (message) => waiting.progress(message),
          signal,
        },
      )
      .finally(() => waiting.end())
    const code = await printAnswer(tool, result, { terminal, wantsJson })
    if (code === exitCodes.usage && !wantsJson) terminal.warn(await helpHint(tool))
    const isInterrupted = person.wasInterrupted() || signal.aborted
    return isInterrupted && code !== exitCodes.unknown ? exitCodes.interrupted : code
  } catch (error) {
    // The tool is not exposed, or a question was answered too late. Nothing was done.
    if (!(error instanceof ProtocolError)) throw error
    terminal.warn(safeLines([error.message]))
    return exitCodes.refused
  } finally {
    await service.close()
  }
}

/** Asks the person at the terminal; Ctrl+C at a question ends the command. */
function askingPerson({ confirm, warn }: Terminal) {
  let isInterrupted = false
  const ask = async (question: string): Promise<PersonsAnswer> => {
    warn(safeLines(question.split('\n')))
    try {
      return (await confirm?.('Go ahead?')) ? 'accept' : 'decline'
    } catch (error) {
      if (!(error instanceof InterruptedError)) throw error
      warn('')
      isInterrupted = true
      return 'cancel'
    }
  }
  return { ask: confirm && ask, wasInterrupted: () => isInterrupted }
}

/** Delay before the status line, ms. Most tool calls end earlier. */
const quietMs = 1000

/**
 * Shows the elapsed time and progress of a tool call on one line until it ends. Without `line`,
 * shows nothing.
 */
function showWaiting(tool: string, line: StatusLine | undefined) {
  const begun = performance.now()
  let message = tool
  let isShown = false
  let isHidden = false
  const show = () => {
    if (isHidden) return
    isShown = true
    line?.show(`${Math.round((performance.now() - begun) / 1000)} s: ${message}`)
  }
  const hide = () => {
    if (isShown) line?.clear()
    isShown = false
  }
  const timer = line && setInterval(show, quietMs)
  return {
    progress(text: string) {
      message = text
      show()
    },
    /** Hides the status line while `work` runs, such as a question. */
    async without<T>(work: () => Promise<T>): Promise<T> {
      hide()
      isHidden = true
      try {
        return await work()
      } finally {
        isHidden = false
      }
    },
    end() {
      clearInterval(timer)
      hide()
      isHidden = true
    },
  }
}

/** Fields of this server's errors that decide the exit code. */
const ErrorFacts = z.looseObject({
  kind: z.string(),
  /** Method of the failed request. */
  method: z.string().optional(),
  maybeSent: z.boolean().optional(),
  status: z.number().optional(),
})
type ErrorFacts = z.output<typeof ErrorFacts>

/** Prints the result of a tool call and returns the exit code. */
async function printAnswer(
  tool: Pick<Tool, 'name' | 'effect'>,
  result: CallToolResult,
  { terminal, wantsJson }: { readonly terminal: Terminal; readonly wantsJson: boolean },
): Promise<number> {
  const error = ErrorFacts.safeParse(result._meta?.[errorMetaKey]).data
  const word = outcomeOf({ result })
  const code = exitCodeOf(word, result, tool.effect !== 'reads' && mayBeDone(error))
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  const data = isObject(result.structuredContent) ? result.structuredContent : undefined
  if (wantsJson) {
    const json = result.isError ? { error: error ?? { kind: 'failed' } } : (data ?? {})
    await terminal.print(safeJsonLines(json))
  }
  if (word !== 'ok') terminal.warn(problemText(word, { text, data }, terminal))
  else if (!wantsJson) await terminal.print(resultText(text, data, terminal))
  // Only for bulk results: a single error already says that the outcome is unknown.
  if (code === exitCodes.unknown && word === 'ok')
    terminal.warn('The outcome of some is unknown: check before you repeat them.')
  return code
}

/** True if the platform may have made the change although the request failed. */
const mayBeDone = (error: ErrorFacts | undefined): boolean =>
  error?.method !== undefined && error.method !== 'GET' && mayBeCarriedOut(error)

/** Reason for a failed tool call, for the terminal. */
function problemText(
  word: string,
  { text, data }: { readonly text: string; readonly data: unknown },
  { styledWarning }: Terminal,
): string {
  const lines = text.split('\n')
  switch (word) {
    case 'confirmation_needed':
      // Leaves out the preview's last two lines, which are for clients: how to confirm, and the
      // token. See tool/confirmation-question.ts.
      return safeLines([
        ...lines.slice(0, -2),
        'Next: if the person agrees, run the same command within two minutes with',
        `--confirm-token ${Preview.parse(data).confirmation.confirm_token}`,
      ])
    case 'confirmation_declined':
    case 'confirmation_dismissed':
      return 'Not confirmed. Nothing was done.'
    case 'needs_person':
      return 'A person has to agree to this (--confirm person), and there is no terminal to ask one. Nothing was done.'
    default: {
      const [first = '', ...rest] = lines.map((line) => withCommandLines(line))
      return [styledWarning('red', safeLines([first])), safeLines(rest)].filter(Boolean).join('\n')
    }
  }
}

/** The confirmation token of a preview, which the terminal shows as a flag. */
const Preview = z.object({ confirmation: z.object({ confirm_token: z.string() }) })

/** Outcomes of tool calls that a person declined or a rule refused (docs/errors.md). */
const refusals: ReadonlySet<string> = new Set([
  'confirmation_declined',
  'confirmation_dismissed',
  'confirmation_needed',
  'needs_person',
  'not_allowed',
  'not_exposed',
  'not_recorded',
])

const usageErrors: ReadonlySet<string> = new Set(['bad_arguments', 'bad_parameter'])

/**
 * Exit code of `call`. `word`: `ok`, or the failure (`outcomeOf`). `isUncertain`: the failed
 * request may have taken effect, because it changes something and got no reply.
 */
function exitCodeOf(word: string, result: unknown, isUncertain: boolean): number {
  const outcomes = targetsOf(result).map(({ outcome }) => outcome)
  if (word === 'unknown_outcome' || outcomes.includes('unknown') || isUncertain)
    return exitCodes.unknown
  if (usageErrors.has(word)) return exitCodes.usage
  if (refusals.has(word)) return exitCodes.refused
  return word === 'ok' && !outcomes.some((one) => notDone.has(one))
    ? exitCodes.done
    : exitCodes.failed
}

/** Outcomes of bulk items that were not changed. */
const notDone: ReadonlySet<string> = new Set(['failed', 'not_allowed', 'not_dialled', 'not_tried'])
