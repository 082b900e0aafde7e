import { ProtocolError } from '@modelcontextprotocol/server'
import { CommandLineError } from '../../config/config-error.ts'
import { exitCodes } from '../../config/exit-codes.ts'
import type { ServiceConfig } from '../../config/service.ts'
import type { Tool } from '../../mcp/call/tool.ts'
import type { CallLocally, PersonsAnswer } from '../../mcp/protocol/local-calls.ts'
import { safeJsonLines, safeLines } from '../../text/safe-text.ts'
import { InterruptedError } from '../install/questions.ts'
import { printAnswer } from './call-answer.ts'
import type { Terminal } from './terminal.ts'
import { readToolArguments } from './tool-arguments.ts'
import { toolHelp, usageLine } from './tool-help.ts'
import { toolNamed } from './tool-named.ts'
import { showWaiting } from './waiting.ts'

/** What `call` needs of the service. */
export interface CallService {
  readonly callLocally: CallLocally
  close(): Promise<void>
}

export interface CallCommand {
  readonly tool: string
  /** What stands behind the name of the tool. */
  readonly words: readonly string[]
  readonly config: ServiceConfig
}

export interface CallParts {
  readonly tools: readonly Tool[]
  readonly terminal: Terminal
  /** Names of the program's settings, for a hint. */
  readonly settings: readonly string[]
  readonly openService: () => Promise<CallService>
  /** Fires with Ctrl+C. */
  readonly signal: AbortSignal
}

/** Calls a tool from the command line, prints what comes of it, and gives the exit code. */
export async function runCall(command: CallCommand, parts: CallParts): Promise<number> {
  const { tools, terminal } = parts
  const { config, words } = command
  const tool = toolNamed(command.tool, tools)
  try {
    const { readFile, readInput } = terminal
    const given = await readToolArguments(words, {
      ...{ readFile, readInput },
      schema: tool.inputSchema(),
      settings: parts.settings,
    })
    if (given.wantsHelp) {
      await terminal.print(toolHelp(tool, { terminal, account: config.scope.account }))
      return exitCodes.done
    }
    return await callAndPrint(tool, given, parts)
  } catch (error) {
    if (!(error instanceof CommandLineError)) throw error
    if (words.includes('--json')) await terminal.print(safeJsonLines(mistake(tool, error)))
    terminal.warn(safeLines([`voice-agent-mcp: ${error.message}`]))
    terminal.warn(helpHint(tool))
    return exitCodes.usage
  }
}

/** A mistake in the words, for programs: as the tool itself says it of arguments. */
const mistake = (tool: Tool, { message }: CommandLineError) => ({
  error: { kind: 'bad_arguments', tool: tool.name, fields: [], next: message, retryable: false },
})

const helpHint = (tool: Tool) =>
  `${usageLine(tool)}\nAll arguments: voice-agent-mcp tools ${tool.name}`

interface Given {
  readonly arguments: Record<string, unknown>
  readonly wantsJson: boolean
}

async function callAndPrint(
  tool: Tool,
  { arguments: args, wantsJson }: Given,
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
    if (code === exitCodes.usage && !wantsJson) terminal.warn(helpHint(tool))
    const isInterrupted = person.wasInterrupted() || signal.aborted
    return isInterrupted && code !== exitCodes.unknown ? exitCodes.interrupted : code
  } catch (error) {
    // The tool is not exposed, or a question was answered too late: nothing was done.
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
