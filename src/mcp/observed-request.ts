import { ProtocolError } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Credential } from '../platform/sessions/credential.ts'
import type { Session } from '../platform/sessions/session.ts'
import type {
  BeginningRequest,
  Ended,
  Observer,
  RequestOutcome,
} from '../server/observe/observer.ts'
import { isObject } from '../text/json.ts'
import { type GetHeader, headerNames, modernVersion, type Protocol, RequestId } from './messages.ts'

/** The members of a JSON-RPC request that are recorded. */
interface ObservedMessage {
  readonly method: string
  readonly id: RequestId
  readonly params?: unknown
}

/** Facts about a request that are recorded but not part of its message. */
export interface ObservedContext {
  readonly keyHash: string
  readonly protocol: Protocol
  readonly transport: BeginningRequest['transport']
  readonly header: GetHeader
  /** Revision negotiated by `initialize`, over stdio only. */
  readonly revision?: string | undefined
  readonly isTool: (name: string) => boolean
  readonly isPrompt: (name: string) => boolean
}

/**
 * Runs a request, and records its end. Without an observer, the request only runs, and its context
 * is not computed.
 */
export const observedRequest = <T>(
  observer: Observer | undefined,
  message: ObservedMessage,
  contextOf: () => ObservedContext,
  run: () => Promise<T>,
): Promise<T> =>
  observer ? observer.request(beginningOf(message, contextOf()), run, outcomeOf) : run()

/** Records a request refused with a JSON-RPC code. */
export const requestRefused = (
  observer: Observer | undefined,
  message: ObservedMessage,
  contextOf: () => ObservedContext,
  code: number,
): void =>
  observer?.requestEnded(beginningOf(message, contextOf()), { outcome: 'protocol_error', code })

/** Runs the stream of a `subscriptions/listen` request, and records it when it ends. */
export type ObserveStream = (
  message: unknown,
  request: Pick<ObservedContext, 'transport' | 'header'> & {
    readonly credential: Credential | undefined
  },
  run: () => Promise<void>,
) => Promise<void>

const StreamRequest = z.object({ method: z.string(), id: RequestId, params: z.unknown() })

const isNone = () => false

/** Records streams, which the transports answer instead of the MCP SDK's servers. */
export const createStreamObserving =
  (
    observer: Observer | undefined,
    sessionFor: (credential: Credential | undefined) => Session,
  ): ObserveStream =>
  (message, { credential, ...request }, run) => {
    const { data } = StreamRequest.safeParse(message)
    if (!data) return run()
    const contextOf = (): ObservedContext => {
      const { keyHash } = sessionFor(credential)
      return { ...request, keyHash, protocol: 'modern', isTool: isNone, isPrompt: isNone }
    }
    return observedRequest(observer, data, contextOf, run)
  }

/** Recorded facts at the start of a request. */
function beginningOf(
  { method, id, params }: ObservedMessage,
  { keyHash, protocol, transport, header, revision, isTool, isPrompt }: ObservedContext,
): BeginningRequest {
  const { name, _meta } = isObject(params) ? params : {}
  return {
    method,
    target: targetOf(method, name, { isTool, isPrompt }),
    keyHash,
    transport,
    id,
    revision:
      protocol === 'modern' ? modernVersion : (revision ?? header(headerNames.protocolVersion)),
    session: header(headerNames.session),
    traceContext: { meta: isObject(_meta) ? _meta : {}, header },
  }
}

/** The named tool or prompt, if this server has it: names that clients invent are not recorded. */
function targetOf(
  method: string,
  name: unknown,
  { isTool, isPrompt }: Pick<ObservedContext, 'isTool' | 'isPrompt'>,
): BeginningRequest['target'] {
  if (typeof name !== 'string') return undefined
  if (method === 'tools/call' && isTool(name)) return { kind: 'tool', name }
  if (method === 'prompts/get' && isPrompt(name)) return { kind: 'prompt', name }
  return undefined
}

/**
 * Outcome of a request. A tool call that returned a result is `ok` here, even with `isError`:
 * tool-calls.ts records its outcome.
 */
function outcomeOf(ended: Ended<unknown>): RequestOutcome {
  if (!('error' in ended)) return { outcome: 'ok' }
  const { error } = ended
  return error instanceof ProtocolError
    ? { outcome: 'protocol_error', code: error.code }
    : { outcome: 'internal', code: -32603 }
}
