import { randomBytes } from 'node:crypto'
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'

/** Signs the request state that a client returns, so that a changed one is refused. */
export const stateCodec = createRequestStateCodec({ key: randomBytes(32) })

const done = (text: string) => ({ content: [{ type: 'text' as const, text }] })

const Name = z.object({ name: z.string() })
const Color = z.object({ color: z.string() })
const Confirmed = z.object({ ok: z.boolean() })
const Context = z.object({ context: z.string() })

const askName = (message: string) => inputRequired.elicit({ message, requestedSchema: Name })
const askModel = (question: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens,
  })

/** Capabilities that the client declares in a request of revision 2026-07-28. */
function declared({ mcpReq }: ServerContext): Record<string, unknown> {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope }
  return z.record(z.string(), z.unknown()).catch({}).parse(envelope[CLIENT_CAPABILITIES_META_KEY])
}

/** Registers tools and a prompt that need input from the client. */
export function registerAsking(server: McpServer): void {
  const tool = (
    name: string,
    run: (
      context: ServerContext,
    ) =>
      | ReturnType<typeof done>
      | ReturnType<typeof inputRequired>
      | Promise<ReturnType<typeof done> | ReturnType<typeof inputRequired>>,
  ) => server.registerTool(name, { description: 'Asks the client.' }, run)

  tool('test_input_required_result_elicitation', ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'user_name', Name)
    if (answer) return done(`Hello, ${answer.name}!`)
    return inputRequired({ inputRequests: { user_name: askName('What is your name?') } })
  })
  tool('test_streaming_elicitation', ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'user_name', Name)
    if (answer) return done(`Hello, ${answer.name}!`)
    return inputRequired({ inputRequests: { user_name: askName('What is your name?') } })
  })
  tool('test_input_required_result_sampling', ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'capital_question')
    if (answer.kind === 'sampling') return done(JSON.stringify(answer.result.content))
    const capital_question = askModel('What is the capital of France?', 100)
    return inputRequired({ inputRequests: { capital_question } })
  })
  tool('test_input_required_result_list_roots', ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'client_roots')
    if (answer.kind === 'roots') return done(JSON.stringify(answer.roots))
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
  })
  const confirmed = async ({ mcpReq }: ServerContext) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'confirm', Confirmed)
    if (answer && mcpReq.requestState() !== undefined) return done('state-ok')
    const confirm = inputRequired.elicit({ message: 'Please confirm', requestedSchema: Confirmed })
    const requestState = await stateCodec.mint({ asked: 'confirm' })
    return inputRequired({ inputRequests: { confirm }, requestState })
  }
  tool('test_input_required_result_request_state', confirmed)
  tool('test_input_required_result_tampered_state', confirmed)
  tool('test_input_required_result_multiple_inputs', async ({ mcpReq }) => {
    const { inputResponses: given } = mcpReq
    const name = acceptedContent(given, 'user_name', Name)
    const others = [inputResponse(given, 'greeting'), inputResponse(given, 'client_roots')]
    if (name && others.every(({ kind }) => kind !== 'missing')) return done(`Hello, ${name.name}!`)
    return inputRequired({
      inputRequests: {
        user_name: askName('What is your name?'),
        greeting: askModel('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await stateCodec.mint({ asked: 'all' }),
    })
  })
  tool('test_input_required_result_multi_round', async ({ mcpReq }) => {
    const { inputResponses: given } = mcpReq
    const color = acceptedContent(given, 'step2', Color)
    if (color) return done(`You like ${color.color}.`)
    const name = acceptedContent(given, 'step1', Name)
    const step2 = inputRequired.elicit({
      message: 'Step 2: What is your favorite color?',
      requestedSchema: Color,
    })
    return inputRequired({
      inputRequests: name ? { step2 } : { step1: askName('Step 1: What is your name?') },
      requestState: await stateCodec.mint({ round: name ? 2 : 1, name: name?.name }),
    })
  })
  tool('test_input_required_result_capabilities', (context) => {
    const can = declared(context)
    const { inputResponses: given } = context.mcpReq
    if (given && Object.keys(given).length > 0) return done('Done.')
    const inputRequests: InputRequests = {
      ...('elicitation' in can && { user_name: askName('What is your name?') }),
      ...('sampling' in can && { greeting: askModel('Generate a greeting', 50) }),
      ...('roots' in can && { client_roots: inputRequired.listRoots() }),
    }
    return Object.keys(inputRequests).length > 0 ? inputRequired({ inputRequests }) : done('Done.')
  })
  // Asks without checking the capability, because the SDK refuses the request itself.
  tool('test_missing_capability', ({ mcpReq }) =>
    inputResponse(mcpReq.inputResponses, 'greeting').kind === 'sampling'
      ? done('Done.')
      : inputRequired({ inputRequests: { greeting: askModel('Generate a greeting', 50) } }),
  )
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'Asks the client.' },
    ({ mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'user_context', Context)
      if (answer) {
        const text = `Context: ${answer.context}`
        return { messages: [{ role: 'user', content: { type: 'text', text } }] }
      }
      const message = 'What context should the prompt use?'
      const user_context = inputRequired.elicit({ message, requestedSchema: Context })
      return inputRequired({ inputRequests: { user_context } })
    },
  )
}
