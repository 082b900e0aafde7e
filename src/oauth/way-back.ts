import type { Provider } from 'oidc-provider'
import { renderPage } from './pages/render.ts'

/**
 * Shows a browser a page that leads back to the client, where oidc-provider would redirect it: the
 * redirect would be a part of sending the form (see pages/return-page.ts). Others are redirected: a
 * browser says in Sec-Fetch-Dest that it shows what it gets.
 */
export function showWayBack(provider: Provider, publicUrl: URL): void {
  provider.use(async (context, next) => {
    await next()
    const address = context.response.get('location')
    const isBack =
      context.status === 303 && URL.parse(address, publicUrl.href)?.origin !== publicUrl.origin
    if (!isBack || context.get('sec-fetch-dest') !== 'document') return
    const page = renderPage({ page: 'return', address })
    context.remove('location')
    context.status = page.status
    context.set({ ...page.headers })
    context.body = page.body
  })
}
