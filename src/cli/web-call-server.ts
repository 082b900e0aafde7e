import type { Service } from '../server/service.ts'
import { openOnce } from '../state/state-access.ts'
import { messageOf } from '../text/safe-text.ts'
import { log } from './observability.ts'

/**
 * Serves the pages of the sandbox's web calls on a free port of this machine, because a stdio
 * server has no HTTP server. This server is loaded and started with the first web call. It does not
 * keep the process running.
 */
export function createWebCallServer(showPage: () => Service['showWebCall']) {
  const pages = openOnce(async () => openServer(showPage))
  return {
    /** Origin of the pages; `undefined` if they cannot be served. The next web call tries again. */
    async pagesAt(): Promise<string | undefined> {
      if (!showPage()) return undefined
      try {
        return (await pages.get()).url
      } catch (error) {
        log(`The pages of web calls cannot be served: ${messageOf(error)}`, 'warn')
        return undefined
      }
    },
    close: () =>
      pages.close(({ server }) => {
        server.close()
        server.closeAllConnections()
      }),
  }
}

async function openServer(showPage: () => Service['showWebCall']) {
  const [{ createServer }, { getRequestListener }, { hostCheck, listen }, { isForWebCall }] =
    await Promise.all([
      import('node:http'),
      import('@hono/node-server'),
      import('../server/transports/listen.ts'),
      import('../sandbox/web-calls/answer-web-call.ts'),
    ])
  const host = '127.0.0.1'
  const refusalOf = hostCheck({ host, isLoopback: true, allowedHosts: [] })
  const answer = async (request: Request) => {
    const { host: asked, pathname } = new URL(request.url)
    const refusal = refusalOf(asked)
    if (refusal) return new Response(refusal, { status: 403 })
    const show = isForWebCall(pathname) ? showPage() : undefined
    return show ? show(request) : new Response('Not found', { status: 404 })
  }
  const server = createServer(getRequestListener(answer, { overrideGlobalObjects: false }))
  const { url } = await listen(server, { host, port: 0 })
  server.unref()
  return { server, url }
}
