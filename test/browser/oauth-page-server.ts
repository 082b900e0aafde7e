import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { PageModel } from '../../src/oauth/pages/models.ts'
import { renderPage } from '../../src/oauth/pages/pages.ts'
import { listenOnLoopback } from '../harness/loopback-server.ts'

/** A form that a browser submitted. */
export interface SentForm {
  readonly fields: readonly (readonly [string, string])[]
  readonly headers: IncomingHttpHeaders
}

export interface PageServer extends AsyncDisposable {
  readonly origin: string
  /** URLs of all GET requests, in order. */
  readonly visited: string[]
  readonly sent: SentForm[]
  /** Serves this page at every path from now on. */
  show(model: PageModel): void
  /** Redirects every GET to this address from now on. */
  redirectTo(address: string): void
  /** Sets the redirect after a form; default: `/sent`. */
  leadTo(address: string): void
}

/** Serves one page of the authorization server, and records its submitted forms. */
export async function startPageServer(): Promise<PageServer> {
  const visited: string[] = []
  const sent: SentForm[] = []
  let page = renderPage({ page: 'problem', problem: 'expired' })
  let next = '/sent'
  let elsewhere: string | undefined
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const fields = [...new URLSearchParams(await text(request))]
      sent.push({ fields, headers: request.headers })
      return void response.writeHead(303, { location: next }).end()
    }
    visited.push(request.url ?? '')
    if (elsewhere) return void response.writeHead(302, { location: elsewhere }).end()
    response.writeHead(page.status, { ...page.headers }).end(page.body)
  })
  const { port, ...disposable } = await listenOnLoopback(server)
  return {
    origin: `http://127.0.0.1:${port}`,
    visited,
    sent,
    show: (model) => {
      page = renderPage(model)
    },
    redirectTo: (address) => {
      elsewhere = address
    },
    leadTo: (address) => {
      next = address
    },
    ...disposable,
  }
}
