import type { Implementation } from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { declaresViews, type ViewName, viewMeta } from '../apps/views.ts'
import type { Observer } from '../server/observe/observer.ts'
import {
  Discover,
  Initialize,
  Initialized,
  ListTools,
  metaKeys,
  modernVersion,
  type Protocol,
  protocolOf,
  type RequestId,
  resultFor,
  resultResponse,
} from './messages.ts'
import { type InstructionsInput, serverOptionsFor, unchangingCacheHint } from './server-info.ts'

/*
 * Answers the first messages of a stdio connection, about the server's identity and its tools,
 * before the MCP SDK and the tools are loaded. The answers are the same as the SDK's. From the
 * first message that does not match the schemas, the SDK handles the connection. Messages that
 * changed the state of the connection are then replayed to the SDK, whose answers to them are
 * dropped.
 */

interface HandshakeReply {
  /** The answer, as JSON text; absent: the message is not answered. */
  readonly text?: string
  /** True if the message changed the connection state, so that the MCP SDK must also receive it. */
  readonly mustReplay?: boolean
}

/** A tool as `tools/list` shows it, as JSON text without its view. */
interface ListedText {
  readonly listed: string
  readonly view: ViewName | undefined
}

/** Handles one message; `undefined`: the MCP SDK gets this message and all later ones. */
export type StdioHandshake = (message: unknown) => HandshakeReply | undefined

interface StdioHandshakeOptions extends InstructionsInput {
  readonly info: Implementation
  /** The listed tools; `undefined`: not known before the tools are loaded. */
  readonly listed: readonly ListedText[] | undefined
  /** Revisions that begin with `initialize`. */
  readonly versions: readonly string[]
  /** Records the answered requests. */
  readonly observer?: Observer | undefined
}

const Message = z.discriminatedUnion('method', [Initialize, Initialized, Discover, ListTools])
type Message = z.output<typeof Message>
type AnsweredRequest = Exclude<Message, { readonly method: 'notifications/initialized' }>

export function createStdioHandshake(options: StdioHandshakeOptions): StdioHandshake {
  const { observer } = options
  const replyTo = createReplies(options)
  return (received) => {
    const { data: message } = Message.safeParse(received, { jitless: true })
    if (!message) return undefined
    const reply = replyTo(message)
    if (observer && reply?.text !== undefined && 'id' in message) recordAnswered(observer, message)
    return reply
  }
}

/** Returns the reply to each message of one connection. */
function createReplies(
  options: StdioHandshakeOptions,
): (message: Message) => HandshakeReply | undefined {
  const results = createResults(options)
  /**
   * Protocol of the connection, set by the first message that only one protocol has.
   * `server/discover` sets none: clients of both protocols may send it first.
   */
  let protocol: Protocol | undefined
  /** True if `initialize` declared that the client shows views. */
  let showsViews = false
  return (message) => {
    switch (message.method) {
      case 'initialize': {
        const { protocolVersion, capabilities } = message.params
        if (protocol !== undefined || !options.versions.includes(protocolVersion)) return undefined
        protocol = '2025'
        showsViews = declaresViews(capabilities)
        return reply(message.id, results.initialize(protocolVersion), true)
      }
      case 'notifications/initialized':
        return protocol === '2025' ? { mustReplay: true } : undefined
      case 'server/discover':
        return protocol === '2025' ? undefined : reply(message.id, results.discover())
      case 'tools/list': {
        const requestProtocol = protocolOf(message)
        // A `modern` client may begin with any request, a `2025` client only with `initialize`.
        if (requestProtocol !== (protocol ?? 'modern')) return undefined
        const meta = message.params?._meta ?? {}
        const views =
          protocol === '2025' ? showsViews : declaresViews(meta[metaKeys.clientCapabilities])
        const result = results.listTools(requestProtocol, views)
        if (result === undefined) return undefined
        // The SDK detects the protocol by the first request that it gets, so the first request that
        // was answered here is passed to it later.
        const mustReplay = protocol === undefined
        protocol = requestProtocol
        return reply(message.id, result, mustReplay)
      }
    }
  }
}

const reply = (id: RequestId, result: string, mustReplay = false): HandshakeReply => ({
  text: resultResponse(id, result),
  mustReplay,
})

/** The results of each method, as JSON text. */
function createResults({ info, listed, ...input }: StdioHandshakeOptions) {
  const modernResult = (result: Record<string, unknown>) =>
    JSON.stringify(resultFor('modern', { ...result, ...unchangingCacheHint }, info))
  return {
    initialize(protocolVersion: string) {
      const { capabilities, instructions } = serverOptionsFor(input, '2025')
      return JSON.stringify({ protocolVersion, capabilities, serverInfo: info, instructions })
    },
    discover() {
      const { capabilities, instructions } = serverOptionsFor(input, 'modern')
      return modernResult({ supportedVersions: [modernVersion], capabilities, instructions })
    },
    /** Concatenated text: parsing and serialising 50 kB would delay the first answer. */
    listTools(protocol: Protocol, views: boolean) {
      if (!listed) return undefined
      const texts = listed.map((tool) => (views ? withViewText(tool) : tool.listed))
      const tools = `"tools":[${texts.join(',')}]`
      return protocol === 'modern' ? `{${tools},${modernResult({}).slice(1)}` : `{${tools}}`
    },
  }
}

const withViewText = ({ listed, view }: ListedText): string =>
  view === undefined ? listed : `${listed.slice(0, -1)},"_meta":${JSON.stringify(viewMeta(view))}}`

/** Records a request that the handshake has answered. */
function recordAnswered(observer: Observer, message: AnsweredRequest): void {
  const { method, id } = message
  const meta = method === 'initialize' ? {} : (message.params?._meta ?? {})
  observer.requestEnded(
    {
      ...{ method, id, revision: revisionOf(message), keyHash: undefined, transport: 'stdio' },
      traceContext: { meta, header: () => undefined },
    },
    { outcome: 'ok' },
  )
}

function revisionOf(message: AnsweredRequest): string | undefined {
  if (message.method === 'initialize') return message.params.protocolVersion
  return protocolOf(message) === 'modern' ? modernVersion : undefined
}
