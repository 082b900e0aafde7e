import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import * as z from 'zod'

/** A TCP proxy with faults that the test sets. */
export interface TcpProxy extends AsyncDisposable {
  /** The URL with the proxy's port. */
  through(url: string): string
  /** Breaks all connections and refuses new ones. */
  cut(): void
  /** Drops all data without closing connections, as if packets were lost. */
  freeze(): void
  /** Delays all data, ms in each direction. */
  slow(ms: number): void
  heal(): void
}

export async function startTcpProxy(port: number): Promise<TcpProxy> {
  let mode: 'open' | 'cut' | 'frozen' = 'open'
  let delayMs = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    if (mode === 'cut') return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      let last = 0
      from.on('data', (chunk) => {
        const pass = () => void (mode === 'open' && to.writable && to.write(chunk))
        // Keeps the order when the delay becomes shorter.
        const inMs = Math.max(delayMs, last - performance.now())
        last = performance.now() + inMs
        if (inMs > 0) setTimeout(pass, inMs)
        else pass()
      })
      from.on('error', () => from.destroy())
      from.on('close', () => {
        sockets.delete(from)
        if (mode !== 'frozen') to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = z.object({ port: z.number() }).parse(server.address())
  const destroyAll = () => {
    for (const socket of [...sockets]) socket.destroy()
  }
  return {
    through: (url) => url.replace(`:${port}/`, `:${address.port}/`),
    cut() {
      mode = 'cut'
      destroyAll()
    },
    freeze() {
      mode = 'frozen'
    },
    slow(ms) {
      delayMs = ms
    },
    heal() {
      mode = 'open'
      delayMs = 0
      // Connections that were frozen have lost bytes, so they cannot continue.
      destroyAll()
    },
    async [Symbol.asyncDispose]() {
      mode = 'open'
      destroyAll()
      server.close()
    },
  }
}
