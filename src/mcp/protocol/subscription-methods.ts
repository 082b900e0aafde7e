import { INVALID_PARAMS, ProtocolError, type Server } from '@modelcontextprotocol/server'
import { WatchLimitError } from '../../session/watched-replies.ts'
import { type ReadContext, readResource } from './resources.ts'
import { watchResources } from './watched-resources.ts'

/** Subscriptions of the 2025 revisions, which reach the server; later ones are the transport's. */
export function serveSubscriptions(server: Server, reading: ReadContext): void {
  const stops = new Map<string, () => void>()
  const end = (uri: string) => {
    stops.get(uri)?.()
    stops.delete(uri)
  }
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, { mcpReq }) => {
    await refuseMissing(reading, uri, mcpReq.signal)
    // The client has gone meanwhile, and with it whoever would end the watching.
    if (mcpReq.signal.aborted) return {}
    end(uri)
    const tell = () => server.sendResourceUpdated({ uri }).catch(() => undefined)
    try {
      stops.set(uri, watchResources(reading.session, [uri], tell))
    } catch (error) {
      if (error instanceof WatchLimitError) throw new ProtocolError(-32000, error.message)
      throw error
    }
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

/**
 * What does not exist cannot change, and the client should know of its mistake. What cannot be read
 * for another reason may be there again soon.
 */
async function refuseMissing(
  context: ReadContext,
  uri: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await readResource(context, uri, signal)
  } catch (error) {
    if (error instanceof ProtocolError && error.code === INVALID_PARAMS) throw error
  }
}
