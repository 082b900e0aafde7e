import {
  type CallToolResult,
  isInputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Session } from '../platform/sessions/session.ts'
import { safeLine } from '../text/safe-text.ts'
import type { Confirmations, EarlierQuestion } from '../tool/confirmation.ts'
import type { Exposure } from './exposure.ts'
import type { ToolCalls } from './tool-calls.ts'

/*
 * Tool calls from this process, such as the command line. Confirmation, policy, journal and audit
 * trail are the same as for a client. Only the MCP messages are omitted.
 */

export type PersonsAnswer = 'accept' | 'decline' | 'cancel'

/** Callbacks and abort signal of one local tool call. */
interface LocalCaller {
  /**
   * Asks the person; `undefined`: nobody can be asked, so the tool call returns a preview with a
   * token.
   */
  readonly ask: ((question: string) => Promise<PersonsAnswer>) | undefined
  readonly progress: (message: string) => void
  readonly signal: AbortSignal
}

interface LocalCall {
  readonly tool: string
  readonly arguments: Record<string, unknown>
}

/** Throws ProtocolError for a tool that is unknown or not exposed. */
export type CallLocally = (call: LocalCall, caller: LocalCaller) => Promise<CallToolResult>

interface LocalCallsOptions {
  readonly toolCalls: ToolCalls
  readonly confirmations: Confirmations
  /** The operator's exposure: no headers restrict a local call further. */
  readonly exposure: Exposure
  /** The session of the server's own key. */
  readonly session: () => Session
  /** The client in the audit trail. */
  readonly client: { readonly name: string; readonly version: string }
}

/** The message of an elicitation request. */
const Question = z.object({ params: z.object({ message: z.string() }) })

export function createLocalCalls(options: LocalCallsOptions): CallLocally {
  const { toolCalls, confirmations, exposure, client } = options
  const sender = () => ({ transport: 'terminal', client, userAgent: undefined }) as const
  return async ({ tool: name, arguments: args }, { ask, progress, signal }) => {
    const session = options.session()
    const tool = exposure.tools.find((one) => one.name === name)
    if (!tool) throw toolCalls.unknownTool(name, exposure, args, { session, sender })
    const run = (earlier: EarlierQuestion) =>
      toolCalls.run(tool, args, {
        ...{ session, sender, signal, tools: exposure.tools, stateless: undefined },
        client: {
          confirmOf: (call) => confirmations.of({ ...call, asksIn: ask && 'form', earlier }),
          progress: (_, message) => progress(safeLine(message)),
          takesTasks: false,
        },
      })
    let result = await run({ requestState: undefined, answers: undefined })
    // The effect of the arguments may have changed since the question. The person is then asked
    // again.
    while (isInputRequiredResult(result)) {
      const { requestState: sealed = '', inputRequests } = result
      const { message } = Question.parse(inputRequests?.confirm).params
      const answers = responsesFor((await ask?.(message)) ?? 'cancel')
      const requestState = await confirmations.verifyRequestState(sealed).catch(lateAnswer)
      result = await run({ requestState, answers })
    }
    return result
  }
}

const responsesFor = (action: PersonsAnswer) => ({
  confirm: action === 'accept' ? { action, content: { confirm: true } } : { action },
})

function lateAnswer(error: unknown): never {
  if (!(error instanceof Error) || error.message !== 'expired') throw error
  throw new ProtocolError(
    -32602,
    'The answer came too late: a question is valid for eleven minutes. Nothing was done.',
  )
}
