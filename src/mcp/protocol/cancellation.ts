import { type GetHeader, headerNames } from './envelope.ts'

/** The requests of stateless HTTP under way: their cancellation arrives in another request. */
export interface Cancellations {
  /** The sender of a request, as far as its headers tell. */
  callerOf(owner: string, header: GetHeader): string
  /** Does the work of one request. The signal for the work also fires when it is cancelled here. */
  run<T>(
    caller: string,
    request: { readonly id: string | number; readonly signal: AbortSignal },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  cancel(caller: string, requestId: string | number): void
}

/**
 * Over stateless HTTP of the 2025 revisions, the server that receives `notifications/cancelled`
 * does not know the request. Both have only their sender in common. Two requests under way may have
 * the same id and sender, if clients do not send the session header back: then it is not known
 * which one is meant, and neither is cancelled.
 */
export function createCancellations(): Cancellations {
  const underWay = new Map<string, Set<AbortController>>()
  const keyOf = (caller: string, id: string | number) => JSON.stringify([caller, id])
  return {
    callerOf: (owner, header) =>
      JSON.stringify([owner, header(headerNames.session) ?? header('user-agent')]),
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
      const [one, another] = underWay.get(keyOf(caller, requestId)) ?? []
      if (another === undefined) one?.abort()
    },
  }
}
