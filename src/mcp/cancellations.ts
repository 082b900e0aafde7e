import { hash } from 'node:crypto'
import type { Server } from '@modelcontextprotocol/server'
import type { Broadcast } from '../state/broadcast.ts'
import type { ServedRequest } from './client-of-request.ts'
import { type GetHeader, headerNames } from './messages.ts'

/** The parts of a stateless HTTP request that a cancellation can name. */
export interface CancellableRequest {
  readonly keyHash: string
  readonly header: GetHeader
  readonly id: string | number
}

/** Running stateless HTTP requests. A cancellation arrives in an HTTP request of its own. */
export type Cancellations = ReturnType<typeof createCancellations>

/**
 * Over stateless HTTP of the 2025 revisions, `notifications/cancelled` reaches a server object that
 * does not know the request. The two have only their sender in common. If clients omit the session
 * header, two running requests may have the same id and sender. The target is then ambiguous, and
 * neither request is cancelled. For the same reason, a cancellation is broadcast to other servers,
 * which may run the request, only if its sender has a session header.
 */
export function createCancellations(broadcast: Broadcast) {
  const underWay = new Map<string, Set<AbortController>>()
  const abort = (key: string) => {
    const [one, another] = underWay.get(key) ?? []
    if (another === undefined) one?.abort()
  }
  broadcast.listen('cancelled_request', abort)
  return {
    /** Runs a request. Its abort signal also fires when the request is cancelled here. */
    async run<T>(
      request: CancellableRequest,
      signal: AbortSignal,
      work: (signal: AbortSignal) => Promise<T>,
    ): Promise<T> {
      const key = keyOf(request)
      const controller = new AbortController()
      const controllers = underWay.get(key) ?? new Set()
      underWay.set(key, controllers.add(controller))
      try {
        return await work(AbortSignal.any([signal, controller.signal]))
      } finally {
        controllers.delete(controller)
        if (controllers.size === 0) underWay.delete(key)
      }
    },
    cancel(request: CancellableRequest): void {
      const topic = keyOf(request)
      const isUnique = request.header(headerNames.session) !== undefined
      if (isUnique) broadcast.announce({ kind: 'cancelled_request', topic })
      else abort(topic)
    },
  }
}

/** Map key of a request: its id and its sender, as far as headers identify the sender. */
function keyOf({ keyHash, header, id }: CancellableRequest): string {
  const sender = header(headerNames.session) ?? header('user-agent')
  return hash('sha256', JSON.stringify([keyHash, sender, id]), 'base64url')
}

/** `notifications/cancelled` for a request that another server of the same process answers. */
export function serveCancellations(
  server: Server,
  { session, header }: ServedRequest,
  cancellations: Cancellations,
): void {
  server.setNotificationHandler('notifications/cancelled', ({ params: { requestId: id } }) => {
    if (id !== undefined) cancellations.cancel({ keyHash: session.keyHash, header, id })
  })
}
