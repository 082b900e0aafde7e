import { hash } from 'node:crypto'
import type { Server } from '@modelcontextprotocol/server'
import type { Broadcast } from '../state/broadcast.ts'
import type { ServedRequest } from './client-of-request.ts'
import { type GetHeader, headerNames } from './messages.ts'

/**
 * Identity of a stateless HTTP request, by which a cancellation finds it: API key, sender (from the
 * headers) and JSON-RPC id.
 */
export interface CancellableRequest {
  readonly keyHash: string
  readonly header: GetHeader
  readonly id: string | number
}

/** Registry of running stateless HTTP requests, by which a cancellation finds its request. */
export type Cancellations = ReturnType<typeof createCancellations>

/**
 * Finds the request that a cancellation means. Over stateless HTTP of the 2025 revisions,
 * `notifications/cancelled` arrives in an HTTP request of its own, at another server object. The
 * two are matched by API key, sender and request id. Without a session header, two running requests
 * can match: then neither is cancelled. Only a cancellation with a session header, whose match is
 * unique, is broadcast to the other servers, where the request may be running.
 */
export function createCancellations(broadcast: Broadcast) {
  const underWay = new Map<string, Set<AbortController>>()
  const abort = (key: string) => {
    const [one, another] = underWay.get(key) ?? []
    if (another === undefined) one?.abort()
  }
  broadcast.listen('cancelled_request', abort)
  return {
    /**
     * Runs a request with an abort signal that also fires when the request is cancelled, here or on
     * another server.
     */
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

/**
 * Map key of a request: a hash of its API key, sender and id. The sender is the session header,
 * otherwise the user agent.
 */
function keyOf({ keyHash, header, id }: CancellableRequest): string {
  const sender = header(headerNames.session) ?? header('user-agent')
  return hash('sha256', JSON.stringify([keyHash, sender, id]), 'base64url')
}

/**
 * Handles `notifications/cancelled` over stateless HTTP, where another server object runs the
 * request.
 */
export function serveCancellations(
  server: Server,
  { session, header }: ServedRequest,
  cancellations: Cancellations,
): void {
  server.setNotificationHandler('notifications/cancelled', ({ params: { requestId: id } }) => {
    if (id !== undefined) cancellations.cancel({ keyHash: session.keyHash, header, id })
  })
}
