import type { GetHeader } from './request-exposure.ts'

/**
 * Names a client of the 2025 revisions: given with the answer to `initialize`, sent with everything
 * that follows. It tells clients of one key apart; nothing else depends on it.
 */
export const sessionHeader = 'mcp-session-id'

/** What is under way for callers whose cancelling comes in a request of its own. */
export interface Cancellations {
  /** Who asks, as far as the headers of a request tell. */
  callerOf(owner: string, header: GetHeader): string
  /** Does the work of one request; its signal also fires when that is cancelled here. */
  run<T>(
    caller: string,
    request: { readonly id: string | number; readonly signal: AbortSignal },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>
  cancel(caller: string, requestId: string | number): void
}

/**
 * Over stateless HTTP of the 2025 revisions the notice that a request is cancelled reaches a server
 * that knows nothing of that request: all that they have in common is who sent them. Of two requests
 * with the same number and sender (who does not repeat the name we gave) nobody can say which is
 * meant, so both go on.
 */
export function createCancellations(): Cancellations {
  const underWay = new Map<string, Set<AbortController>>()
  const keyOf = (caller: string, id: string | number) => JSON.stringify([caller, id])
  return {
    callerOf: (owner, header) =>
      JSON.stringify([owner, header(sessionHeader) ?? header('user-agent')]),
    async run(caller, { id, signal }, work) {
      const key = keyOf(caller, id)
      const controller = new AbortController()
      const all = underWay.get(key) ?? new Set()
      underWay.set(key, all.add(controller))
      try {
        return await work(AbortSignal.any([signal, controller.signal]))
      } finally {
        all.delete(controller)
        if (all.size === 0) underWay.delete(key)
      }
    },
    cancel(caller, requestId) {
      const [one, another] = underWay.get(keyOf(caller, requestId)) ?? []
      if (another === undefined) one?.abort()
    },
  }
}
