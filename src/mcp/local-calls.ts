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
import type { RunTool } from './tool-calls.ts'
import { type OnUnknownTool, unknownToolError } from './tools.ts'

/*
 * Calls of tools by a program that runs in this process, such as the command line. They run as those of
 * a client do, with the same confirmation, policy, journal and audit trail; only the messages between
 * client and server are left out.
 */

/** What the person does with a question: yes, no, or nothing. */
export type PersonsAnswer = 'accept' | 'decline' | 'cancel'

/** Who calls, and what the call may do meanwhile. */
interface LocalCaller {
  /** Asks the person; `undefined`: nobody can be asked, so there is a preview with a token. */
  readonly ask: ((question: string) => Promise<PersonsAnswer>) | undefined
  readonly progress: (message: string) => void
  readonly signal: AbortSignal
}

interface LocalCall {
  readonly tool: string
  readonly arguments: Record<string, unknown>
}

/** Calls a tool. Throws ProtocolError where it is not there, or not exposed. */
export type CallLocally = (call: LocalCall, caller: LocalCaller) => Promise<CallToolResult>

interface LocalCallsOptions {
  readonly runTool: RunTool
  readonly confirmations: Confirmations
  /** What the operator exposes: such a call has no headers that restrict it further. */
  readonly exposure: Exposure
  /** The session of the server's own key. */
  readonly session: () => Session
  /** What the audit trail names as the client. */
  readonly client: { readonly name: string; readonly version: string }
  readonly onUnknownTool: OnUnknownTool
}

/** As much of a question (elicitation) as is shown. */
const Question = z.object({ params: z.object({ message: z.string() }) })

export function createLocalCalls(options: LocalCallsOptions): CallLocally {
  const { runTool, confirmations, exposure, client, onUnknownTool } = options
  const sender = () => ({ transport: 'terminal', client, userAgent: undefined }) as const
  return async ({ tool: name, arguments: args }, { ask, progress, signal }) => {
    const session = options.session()
    const tool = exposure.tools.find((one) => one.name === name)
    if (!tool)
      throw unknownToolError(name, exposure, { arguments: args, session, sender }, onUnknownTool)
    const run = (earlier: EarlierQuestion) =>
      runTool(tool, args, {
        ...{ session, sender, signal, tools: exposure.tools, stateless: undefined },
        client: {
          confirmOf: (call) => confirmations.of({ ...call, canAsk: ask !== undefined, earlier }),
          progress: (_, message) => progress(safeLine(message)),
          takesTasks: false,
        },
      })
    let result = await run({ requestState: undefined, answers: undefined })
    // What the same arguments do may have changed while the person thought: then they are asked again.
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
