import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { listenOnLoopback } from './loopback-server.ts'

/** A request that the fake platform received. */
export interface SeenRequest {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

export type Behaviour = (
  request: SeenRequest,
  response: ServerResponse,
  /** Number of earlier requests. */
  before: number,
) => void

/**
 * A platform on a free loopback port, whose behaviour the test sets. With `account` it replies to
 * requests for the key's own account by itself, and leaves them out of `seen`.
 */
export interface FakePlatform extends AsyncDisposable {
  readonly url: string
  readonly seen: SeenRequest[]
  behave(behaviour: Behaviour): void
  /** Makes requests for the key's own account fail from now on. */
  loseAccount(): void
}

export interface FakePlatformOptions {
  readonly account?: string
  readonly host?: string
  readonly tls?: { cert: string; key: string }
}

export async function startFakePlatform(
  behaviour: Behaviour,
  { account, host = '127.0.0.1', tls }: FakePlatformOptions = {},
): Promise<FakePlatform> {
  let current = behaviour
  let isAccountLost = false
  const seen: SeenRequest[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(request)
    // The client disconnected before the end of its request.
    if (body === undefined) return
    const { method = '', url = '', headers } = request
    // With the first request of a key, the server also reads the key's account, which would disturb
    // tests.
    if (account !== undefined && url.endsWith('/v1/accounts/current')) {
      return isAccountLost
        ? json(response, 500, envelope('internal_error'))
        : json(response, 200, { id: account })
    }
    const one = { method, url, headers, body }
    seen.push(one)
    current(one, response, seen.length - 1)
  }
  const server = tls ? createTlsServer(tls, answer) : createServer(answer)
  const { port, ...disposable } = await listenOnLoopback(server, host)
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    seen,
    loseAccount: () => {
      isAccountLost = true
    },
    behave: (next) => {
      current = next
    },
    ...disposable,
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk)
  } catch {
    return undefined
  }
  return Buffer.concat(chunks).toString()
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export const envelope = (code: string, message = code, more: object = {}) => ({
  code,
  message,
  detail: null,
  errors: null,
  ...more,
})
