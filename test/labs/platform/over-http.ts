import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenOnLoopback } from '../../harness/loopback-server.ts'
import type { PlatformRequest, Reply, SimulatedPlatform } from './simulated-platform.ts'

/** Time of this process, for a platform over HTTP. */
export const realTime = {
  get now(): number {
    return performance.now()
  },
  get platformTimeOfDay(): number {
    return Date.now()
  },
}

/**
 * Serves simulated platforms on a free loopback port: one for all requests, or one per API key.
 * `undefined`: unknown key.
 */
export async function serveOverHttp(
  platformOf: (key: string, request: PlatformRequest) => SimulatedPlatform | undefined,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    answer(request, response, platformOf).catch(() => response.destroy())
  })
  const { port, ...disposable } = await listenOnLoopback(server)
  return { url: `http://127.0.0.1:${port}`, ...disposable }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  platformOf: Parameters<typeof serveOverHttp>[0],
): Promise<void> {
  const { method = '', headers } = request
  const url = new URL(request.url ?? '', 'http://platform')
  const asked = { method, url, body: await text(request) }
  const platform = platformOf(String(headers['x-api-key']), asked)
  if (!platform) return send(response, { status: 401, body: '{"code":"unauthorized"}' })
  const answer = platform.answer(asked)
  if (answer.kind === 'none') return
  if (answer.afterMs > 0) await sleep(answer.afterMs)
  switch (answer.kind) {
    case 'reply':
      return send(response, answer.reply())
    case 'cut off': {
      const { status, body } = answer.reply()
      response.writeHead(status, { ...json, 'content-length': Buffer.byteLength(body) })
      response.write(body.slice(0, body.length / 2), () => response.destroy())
      return
    }
    case 'redirect':
      response.writeHead(307, { location: 'https://elsewhere.invalid/' }).end()
      return
    case 'connection lost':
    case 'not connected':
      response.destroy()
  }
}

const json = { 'content-type': 'application/json' }

function send(response: ServerResponse, { status, body }: Reply): void {
  const type = body.startsWith('<') ? { 'content-type': 'text/html' } : json
  response.writeHead(status, { ...type, ...(status === 429 && { 'retry-after': '1' }) }).end(body)
}
