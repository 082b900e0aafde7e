import { createHash } from 'node:crypto'
import type { Server } from '@modelcontextprotocol/server'
import type { Changes } from '../state/changes.ts'
import type { ServedRequest } from './clients.ts'
import { type GetHeader, headerNames } from './messages.ts'

/** The sender of a request, as far as its headers tell. */
interface Caller {
  readonly name: string
  /** Whether no other sender has this name: it sends the session header that it was given. */
  readonly isUnique: boolean
}

/** The requests of stateless HTTP under way: their cancellation arrives in another request. */
export interface Cancellations {
  callerOf(owner: string, header: GetHeader): Caller
  /** Does the work of one request. The signal for the work also fires when it is cancelled here. */
  run<T>(
    caller: Caller,
    request: { readonly id: string | number; readonly signal: AbortSignal },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  cancel(caller: Caller, requestId: string | number): void
}

/**
 * Over stateless HTTP of the 2025 revisions, the server that receives `notifications/cancelled`
 * does not know the request. Both have only their sender in common. Two requests under way may have
 * the same id and sender, if clients do not send the session header back: then it is not known
 * which one is meant, and neither is cancelled. For the same reason only the cancellations of unique
 * callers go to the other servers, where the request may be.
 */
export function createCancellations(changes: Changes): Cancellations {
  const underWay = new Map<string, Set<AbortController>>()
  const keyOf = ({ name }: Caller, id: string | number) =>
    createHash('sha256')
      .update(JSON.stringify([name, id]))
      .digest('base64url')
  const abort = (key: string) => {
    const [one, another] = underWay.get(key) ?? []
    if (another === undefined) one?.abort()
  }
  changes.listen('cancelled_request', abort)
  return {
    callerOf(owner, header) {
      const session = header(headerNames.session)
      const name = JSON.stringify([owner, session ?? header('user-agent')])
      return { name, isUnique: session !== undefined }
    },
    async run(caller, { id, signal }, work) {
      const key = keyOf(caller, id)
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
    cancel(caller, requestId) {
      const topic = keyOf(caller, requestId)
      if (caller.isUnique) changes.announce({ kind: 'cancelled_request', topic })
      else abort(topic)
    },
  }
}

/** `notifications/cancelled` for a request that another server of the same process answers. */
export function serveCancellations(
  server: Server,
  { session, header }: ServedRequest,
  cancellations: Cancellations,
): void {
  const caller = cancellations.callerOf(session.owner, header)
  server.setNotificationHandler('notifications/cancelled', ({ params: { requestId } }) => {
    if (requestId !== undefined) cancellations.cancel(caller, requestId)
  })
}
