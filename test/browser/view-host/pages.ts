import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'

/*
 * A host's two pages, on two origins as the specification requires: its own, and the sandbox proxy,
 * which shows the view in a frame and forwards messages.
 */

/** Content security policy that the specification sets for views without declared origins. */
const strictPolicy = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "media-src 'self' data:",
  "connect-src 'none'",
  "base-uri 'self'",
  "object-src 'none'",
].join('; ')

const hostPage = (script: string) => `<!doctype html><html lang="en"><title>Host</title>
<meta name="viewport" content="width=device-width">
<style>:root{color-scheme:light dark}body{margin:0}iframe{border:0;width:100%;height:100px;display:block}</style>
<iframe title="View" sandbox="allow-scripts allow-same-origin"></iframe>
<script type="module">${script}</script>`

const proxyPage = `<!doctype html><html lang="en"><title>Sandbox</title>
<style>:root{color-scheme:light dark}body{margin:0}iframe{border:0;width:100%;height:100vh;display:block}</style>
<script>
  let inner
  addEventListener('message', ({ source, data }) => {
    if (source !== parent) return source === inner?.contentWindow && parent.postMessage(data, '*')
    if (data.method !== 'ui/notifications/sandbox-resource-ready')
      return inner?.contentWindow.postMessage(data, '*')
    inner = document.createElement('iframe')
    inner.title = 'View'
    inner.sandbox = 'allow-scripts'
    inner.srcdoc = data.params.html
    document.body.append(inner)
  })
  parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*')
</script><body></body>`

export interface HostPages extends AsyncDisposable {
  readonly host: string
  readonly proxy: string
}

export async function startHostPages(): Promise<HostPages> {
  const script = await bundledHost()
  const [host, proxy] = await Promise.all([
    serve(hostPage(script), {}),
    serve(proxyPage, { 'content-security-policy': strictPolicy }),
  ])
  return {
    host: host.url,
    proxy: proxy.url,
    [Symbol.asyncDispose]: async () => {
      for (const { server } of [host, proxy]) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

async function serve(page: string, headers: Record<string, string>) {
  const server: Server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { server, url: `http://127.0.0.1:${port}/` }
}

/** Bundles the host's script with the official bridge, which only these tests install. */
async function bundledHost(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'host-page.js')],
    bundle: true,
    write: false,
    format: 'esm',
    minify: true,
    legalComments: 'none',
  })
  return (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script')
}
