import type { Server } from '@modelcontextprotocol/server'
import { watchResources } from './resources.ts'
import type { Session } from './session.ts'

/** Subscriptions of the 2025 revisions, which reach the server; later ones are the transport's. */
export function serveSubscriptions(server: Server, session: Session): void {
  const stops = new Map<string, () => void>()
  const end = (uri: string) => {
    stops.get(uri)?.()
    stops.delete(uri)
  }
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    end(uri)
    const tell = () => server.sendResourceUpdated({ uri }).catch(() => undefined)
    stops.set(uri, watchResources(session, [uri], tell))
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    end(uri)
    return {}
  })
  server.onclose = () => {
    for (const uri of [...stops.keys()]) end(uri)
  }
}
