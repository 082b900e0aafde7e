import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { listen } from '../../src/server/transports/listen.ts'
import { Message, StdioSession } from './stdio-session.ts'

export interface Bridge extends AsyncDisposable {
  readonly url: string
}

const sessionHeader = 'mcp-session-id'

/**
 * Serves a stdio program over HTTP, because the suite supports only HTTP. Each message of the
 * client becomes a line of input; each line of output a message of the server. Every session of the
 * 2025 revisions has its own program; all requests of 2026-07-28 share one.
 */
export async function startBridge(
  command: readonly string[],
  env: Record<string, string> = {},
): Promise<Bridge> {
  const sessions = new Map<string, StdioSession>()
  // Started in advance: the suite waits only a few seconds for a session.
  let spare = new StdioSession(command, env)
  const sessionNamed = (name: string) => {
    const known = sessions.get(name)
    if (known) return known
    const session = spare
    spare = new StdioSession(command, env)
    sessions.set(name, session)
    if (name === shared) session.send(opening)
    return session
  }
  const server = createServer((request, response) => {
    serve(request, response, { sessions, sessionNamed }).catch((error: Error) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(error.message)
    })
  })
  const listening = await listen(server, { host: '127.0.0.1', port: 0 })
  return {
    url: `${listening.url}/mcp`,
    async [Symbol.asyncDispose]() {
      for (const session of [spare, ...sessions.values()]) await session[Symbol.asyncDispose]()
      await listening.close(0)
    },
  }
}

/** Name of the session for requests without a session id. */
const shared = 'shared'

/** Sent first, because the first request on stdio decides the connection's revision. */
const opening = Message.parse({
  jsonrpc: '2.0',
  id: 'opening',
  method: 'tools/list',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'conformance-bridge', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
})

interface Sessions {
  readonly sessions: Map<string, StdioSession>
  /** The session of this name; created if it does not exist. */
  readonly sessionNamed: (name: string) => StdioSession
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { sessions, sessionNamed }: Sessions,
): Promise<void> {
  const name = request.headers[sessionHeader]?.toString() ?? shared
  if (name !== shared && !sessions.has(name)) return void response.writeHead(404).end()
  switch (request.method) {
    case 'GET':
      if (name === shared) return void response.writeHead(405).end()
      return sessionNamed(name).listen(response)
    case 'DELETE': {
      const session = sessions.get(name)
      sessions.delete(name)
      await session?.[Symbol.asyncDispose]()
      return void response.writeHead(200).end()
    }
    default: {
      const message = Message.parse(await json(request))
      const { id, method } = message
      const isFirst = method === 'initialize'
      const taken = isFirst ? randomUUID() : name
      if (isFirst) response.setHeader(sessionHeader, taken)
      const session = sessionNamed(taken)
      if (id !== undefined && method !== undefined) return session.ask({ ...message, id }, response)
      session.send(message)
      response.writeHead(202).end()
    }
  }
}
