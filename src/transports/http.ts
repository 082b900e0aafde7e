import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  isJsonContentType,
  localhostAllowedOrigins,
  DEFAULT_MAX_REQUEST_BODY_SIZE as longestRequest,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { sessionHeader } from '../mcp/cancelling.ts'
import { authInfoOf, type Credential } from '../mcp/credential.ts'
import type { Header } from '../mcp/selection.ts'
import type { Service } from '../mcp/server.ts'
import { hostCheck } from './hosts.ts'
import { readKey } from './key.ts'
import { type Listening, listen } from './listen.ts'
import { createResourceBus, type Watch, wantedResources } from './subscriptions.ts'

export interface HttpOptions {
  readonly host: string
  readonly port: number
  /** Whether the address is reachable from this machine only. */
  readonly isLoopback: boolean
  /** Host names clients may use, besides those of this machine. */
  readonly allowedHosts: readonly string[]
  /** Host names of web pages that may connect, besides those of this machine. */
  readonly allowedOrigins: readonly string[]
  /** Whether a request without a key may be served, with the operator's key or the sandbox's. */
  readonly keyIsOptional: boolean
  /** Why a request cannot have what its headers want of the tools; `undefined` where it can. */
  readonly refusalOf: (header: Header) => string | undefined
  /** Watches resources with the key of a request, or the operator's. */
  readonly watch: (
    credential: Credential | undefined,
    uris: readonly string[],
    onUpdate: (uri: string) => void,
  ) => () => void
  readonly onError: (error: Error) => void
}

/** Most streams that are open at once; one takes some 40 kB. */
const mostStreams = 20_000

/** Serves MCP over Streamable HTTP at /mcp. Throws ListenError. */
export async function startHttp(
  { factory, shortcut }: Service,
  options: HttpOptions,
): Promise<Listening> {
  const resources = createResourceBus()
  const handler = createMcpHandler(factory, {
    bus: resources.bus,
    onerror: options.onError,
    maxSubscriptions: mostStreams,
  })
  const serve = toNodeHandler(handler, { onerror: options.onError })
  const refusalOfSource = sourceCheck(options)

  const answer = async (
    request: IncomingMessage & { auth?: AuthInfo },
    response: ServerResponse,
  ) => {
    const foreign = refusalOfSource(request.headers)
    if (foreign) return refuse(response, 403, foreign)
    allowPage(request, response)
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const path = request.url?.split('?')[0]
    if (path === '/health') return sendJson(response, 200, { status: 'ok' })
    if (path !== '/mcp') return sendJson(response, 404, { error: 'There is only /mcp here.' })
    if (!['GET', 'POST', 'DELETE'].includes(request.method ?? '')) {
      return sendJson(response, 405, { error: 'Use POST.' })
    }
    const key = readKey(request.headersDistinct)
    if (!key.ok) return refuse(response, key.status, key.message)
    if (key.credential) request.auth = authInfoOf(key.credential)
    else if (!options.keyIsOptional) return refuse(response, 401, keyWanted)
    const header: Header = (name) => request.headersDistinct[name.toLowerCase()]?.join(', ')
    const refusal = options.refusalOf(header)
    if (refusal) return refuse(response, 400, refusal)
    // Node's own type, whose optional fields say undefined where the SDK's say absent.
    const incoming = request as NodeIncomingMessageLike
    if (request.method !== 'POST' || !isJsonContentType(request.headers['content-type'])) {
      return serve(incoming, response)
    }
    const body = await readBody(request)
    if (!body) {
      // What is left of it is not read, so nothing else can come on this connection.
      response.setHeader('connection', 'close')
      return refuse(response, 413, `The request is larger than ${longestRequest} bytes.`)
    }
    const message = parsed(body)
    if (message === undefined) {
      return refuse(response, 400, 'The body of the request is no JSON.', parseError)
    }
    const answered = shortcut(message, {
      header,
      credential: key.credential,
      signal: () => goneSignal(response),
    })
    if (answered !== undefined) return sendText(response, await answered)
    if (isInitializeRequest(message)) response.setHeader(sessionHeader, randomUUID())
    if (request.headers['mcp-method'] !== 'subscriptions/listen') {
      return serve(incoming, response, message)
    }
    const watch: Watch = (uris, onUpdate) => options.watch(key.credential, uris, onUpdate)
    const closed = once(response, 'close').then(() => undefined)
    await resources.open(watch, wantedResources(message), () =>
      // The stream lasts as long as the response does, whenever the SDK is done with the request.
      Promise.race([serve(incoming, response, message).then(() => closed), closed]),
    )
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      if (request.readableAborted) return
      options.onError(error)
      if (response.headersSent) response.destroy()
      else refuse(response, 500, 'The server failed.')
    })
  })
  const listening = await listen(server, options)
  return {
    ...listening,
    async close() {
      await handler.close()
      await listening.close()
    },
  }
}

/** JSON-RPC 2.0 §5.1 */
const parseError = -32700

/** The bytes of a request; `undefined` when they are too many. Throws when the client breaks off. */
function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= longestRequest) return void chunks.push(chunk)
      request.pause()
      resolve(undefined)
    })
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    request.once('error', reject)
  })
}

/** A JSON text as data; `undefined` when it is none. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Fires when a response can no longer be finished, because the client has gone. */
function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}

const keyWanted =
  'An API key is required: send it as X-API-Key, or as Authorization: Bearer. It is passed on to the platform.'

/** Why a request is refused for where it comes from; `undefined` where it may come in. */
function sourceCheck({ isLoopback, allowedHosts, allowedOrigins }: HttpOptions) {
  const refusalOfHost = hostCheck({ isLoopback, allowedHosts })
  const origins = [...localhostAllowedOrigins(), ...allowedOrigins]
  return ({ host, origin }: IncomingMessage['headers']): string | undefined => {
    const refusal = refusalOfHost(host)
    if (refusal) return refusal
    const page = validateOriginHeader(origin, origins)
    return page.ok ? undefined : page.message
  }
}

/** Lets an allowed web page read the answers (CORS); others never get this far. */
function allowPage(request: IncomingMessage, response: ServerResponse): void {
  const { origin } = request.headers
  if (!origin) return
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('vary', 'origin')
  response.setHeader('access-control-allow-methods', 'GET, POST, DELETE, OPTIONS')
  response.setHeader(
    'access-control-allow-headers',
    request.headers['access-control-request-headers'] ?? 'content-type',
  )
  response.setHeader('access-control-expose-headers', 'mcp-session-id, mcp-protocol-version')
  response.setHeader('access-control-max-age', '600')
}

function refuse(
  response: ServerResponse,
  status: 400 | 401 | 403 | 413 | 500,
  message: string,
  code = -32000,
): void {
  // RFC 9110 §11.6.1: a 401 names how to authenticate.
  if (status === 401) response.setHeader('www-authenticate', 'Bearer realm="voice-agent-mcp"')
  sendJson(response, status, { jsonrpc: '2.0', id: null, error: { code, message } })
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, JSON.stringify(body), status)
}

function sendText(response: ServerResponse, text: string | Buffer, status = 200): void {
  const length = Buffer.byteLength(text)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length })
  response.end(text)
}
