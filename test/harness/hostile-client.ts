import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { onTheWire } from '../../src/dev/wire.ts'

/** What the README's paragraph on deployment starts the program with where memory is scarce. */
export const scarce = {
  MALLOC_ARENA_MAX: '1',
  NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=256',
}

/** A request as bytes of HTTP/1.1. `length` declares another length of the body than it has. */
export function httpText(
  { headers, body }: ReturnType<typeof onTheWire>,
  { length = Buffer.byteLength(body), path = '/mcp' }: { length?: number; path?: string } = {},
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n${lines.join('')}\r\n${body}`
}

/** Connections that read nothing until told to. */
export async function crowd(url: string, count: number) {
  const { hostname, port } = new URL(url)
  const open = () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => resolve(socket)).pause()
      socket.once('error', reject)
      // Being cut is what a test may be about.
      socket.on('error', () => undefined)
    })
  const sockets = await Promise.all(Array.from({ length: count }, open))
  return {
    sockets,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** All that comes on a connection until it ends, or until `pattern` is in it. */
export async function heardOn(socket: Socket, pattern?: RegExp): Promise<string> {
  let heard = ''
  try {
    for await (const chunk of socket) {
      heard += chunk
      if (pattern?.test(heard)) break
    }
  } catch {
    // Cut by the server: what came before is what was heard.
  }
  return heard
}

/** The most memory that a process has had so far, MB. */
export function mostMemory(pid: number | undefined): number {
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
