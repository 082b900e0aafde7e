import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { mcpHttpRequest } from './mcp-request.ts'

/** An HTTP/1.1 request as text. `length`: declared length of the body, if not the true one. */
export function httpText(
  { headers, body }: ReturnType<typeof mcpHttpRequest>,
  { length = Buffer.byteLength(body), path = '/mcp' }: { length?: number; path?: string } = {},
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n${lines.join('')}\r\n${body}`
}

/**
 * Opens `count` connections that read nothing until resumed. Resolves when each is open or refused.
 */
export async function crowd(url: string, count: number) {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: count }, () =>
    // Errors are ignored, because the test may be about refused or closed connections.
    connect(Number(port), hostname)
      .pause()
      .on('error', () => undefined),
  )
  await Promise.all(
    sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])),
  )
  return {
    sockets,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Reads a connection until it ends, or until `pattern` matches. */
export async function heardOn(socket: Socket, pattern?: RegExp): Promise<string> {
  let received = ''
  try {
    for await (const chunk of socket) {
      received += chunk
      if (pattern?.test(received)) break
    }
  } catch {
    // The server closed the connection: what came before is returned.
  }
  return received
}
