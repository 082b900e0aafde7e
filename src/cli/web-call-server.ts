import type { Server } from 'node:http'

/** Answers a request for the page of a web call. */
export type ShowPage = (request: Request) => Promise<Response>

/**
 * Serves the pages of the sandbox's web calls on a free port of this machine, from the first web call
 * on: over stdio there is no other server. It does not keep the process running. What this file imports
 * is loaded with the first call, so that no start has more files to open.
 */
export function createWebCallServer(
  showPage: () => ShowPage | undefined,
  onFailure: (message: string) => void,
) {
  let server: Server | undefined
  let address: Promise<string | undefined> | undefined
  const open = async (): Promise<string | undefined> => {
    const show = showPage()
    if (!show) return undefined
    try {
      const opened = await openServer(show)
      server = opened.server
      return opened.url
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      onFailure(`The pages of web calls cannot be served: ${reason}`)
      return undefined
    }
  }
  return {
    /** The origin of the pages; `undefined`: they cannot be served, and the next call tries again. */
    async pagesAt(): Promise<string | undefined> {
      address ??= open()
      const tried = address
      const opened = await tried
      if (opened === undefined && address === tried) address = undefined
      return opened
    },
    async close(): Promise<void> {
      await address
      server?.close()
      server?.closeAllConnections()
    },
  }
}

async function openServer(show: ShowPage): Promise<{ server: Server; url: string }> {
  const [{ createServer }, { getRequestListener }, { hostCheck, listen }, { isForWebCall }] =
    await Promise.all([
      import('node:http'),
      import('@hono/node-server'),
      import('../server/transports/listen.ts'),
      import('../sandbox/web-calls/web-calls.ts'),
    ])
  const host = '127.0.0.1'
  const refusalOf = hostCheck({ host, isLoopback: true, allowedHosts: [] })
  const answer = async (request: Request) => {
    const { host: asked, pathname } = new URL(request.url)
    const refusal = refusalOf(asked)
    if (refusal) return new Response(refusal, { status: 403 })
    return isForWebCall(pathname) ? show(request) : new Response('Not found', { status: 404 })
  }
  const server = createServer(getRequestListener(answer, { overrideGlobalObjects: false }))
  const { url } = await listen(server, { host, port: 0 })
  server.unref()
  return { server, url }
}
