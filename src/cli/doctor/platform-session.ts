import type { Failure } from '../../api/failure.ts'
import type { Send, WireReply } from '../../api/send.ts'
import type { PlatformConfig } from '../../config/platform.ts'
import type { Account } from '../../contract/account.ts'
import type { Route, RouteRequest } from '../../contract/route.ts'
import type { Inspection } from '../../service/inspection.ts'
import { type Connections, watchConnections } from './connections.ts'

export type NetworkPlatform = Extract<PlatformConfig, { kind: 'network' }>

/** What came of one request. */
export interface Answer<T> {
  /** `undefined`: it failed. */
  readonly value: T | undefined
  readonly failure: Failure | undefined
  /** `undefined`: none came. */
  readonly reply: WireReply | undefined
  /** How long it took, ms. */
  readonly ms: number
  /** When it was half-way, by the clock of this machine, ms since 1970. */
  readonly at: number
}

/** The platform as the checks see it: with the client that tools use, once and without repeats. */
export interface PlatformSession {
  readonly config: NetworkPlatform
  /** The account of the key: the first request. */
  readonly first: Promise<Answer<Account>>
  /** The same again. */
  askAgain(): Promise<Answer<Account>>
  /** Any other operation. */
  call(route: Route, request: RouteRequest): Promise<Answer<unknown>>
  /** The reply to a path that is no operation; `baseUrl`: of another address, without the key. */
  get(target: string, baseUrl?: URL): Promise<Answer<WireReply>>
  readonly connections: Connections
  close(): Promise<void>
}

/** Longest that a request takes here, ms, whatever the settings allow. */
const longestMs = 20_000

export async function openPlatformSession(
  config: NetworkPlatform,
  inspection: Inspection,
  version: string,
): Promise<PlatformSession> {
  const { apiKey = '' } = config
  const userAgent = `voice-agent-mcp/${version}`
  const connections = watchConnections()
  const opened = await inspection.openPlatform(config, () => undefined)
  const send = inspection.keyFree(opened.send, inspection.redactor(apiKey))
  const call = async <T>(work: (recorded: Send) => Promise<T>): Promise<Answer<T>> => {
    let reply: WireReply | undefined
    const recorded: Send = async (request) => {
      reply = await send(request)
      return reply
    }
    return answerOf(
      () => work(recorded),
      inspection,
      () => reply,
    )
  }
  const callRoute = <R extends Route>(route: R, request: RouteRequest) =>
    call((recorded) =>
      inspection.createClient({ send: recorded, apiKey, userAgent, ...once }).call(route, request),
    )
  const askAgain = () => callRoute(inspection.routes.accounts.current, { params: {}, query: {} })
  return {
    config,
    first: askAgain(),
    askAgain,
    call: callRoute,
    async get(target, baseUrl) {
      if (!baseUrl) return call((recorded) => recorded(request(target, userAgent, apiKey)))
      const other = await inspection.openPlatform({ ...config, baseUrl }, () => undefined)
      const answer = await answerOf(() => other.send(request(target, userAgent)), inspection)
      await other.close()
      return answer
    },
    connections,
    async close() {
      connections.stop()
      await opened.close()
    },
  }
}

const once = {
  retry: { tries: 1, firstWaitMs: 0, longestRetryAfter: 0 },
  totalTimeoutMs: longestMs,
}

const request = (target: string, userAgent: string, apiKey?: string) => ({
  method: 'GET' as const,
  target,
  headers: {
    ...(apiKey && { 'x-api-key': apiKey }),
    'user-agent': userAgent,
    accept: 'application/json',
    'accept-encoding': 'identity',
  },
  timeLeftMs: longestMs,
})

async function answerOf<T>(
  work: () => Promise<T>,
  { failureOf }: Inspection,
  replyOf: () => WireReply | undefined = () => undefined,
): Promise<Answer<T>> {
  const started = performance.now()
  const time = () => {
    const ms = performance.now() - started
    return { ms, at: Date.now() - ms / 2, reply: replyOf() }
  }
  try {
    const value = await work()
    return { value, failure: undefined, ...time() }
  } catch (error) {
    return { value: undefined, failure: failureOf(error), ...time() }
  }
}
