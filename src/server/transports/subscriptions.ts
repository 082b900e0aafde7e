import { AsyncLocalStorage } from 'node:async_hooks'
import type {
  JSONRPCErrorResponse,
  JSONRPCRequest,
  ServerEventBus,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { errorResponse } from '../../mcp/messages.ts'
import { watchable } from '../../mcp/subscriptions.ts'
import { WatchLimitError } from '../../platform/sessions/watched-replies.ts'

/** Watches resources for one client until the returned function is called. */
export type Watch = (uris: readonly string[], onUpdate: (uri: string) => void) => () => void

const Listen = z.looseObject({
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }),
  }),
})

/**
 * The resources of a `subscriptions/listen` message that are watched, and the message with only
 * those: the SDK acknowledges every resource of it, and the client then expects notifications.
 */
export function watchedPart<T>(message: T): {
  readonly uris: readonly string[]
  readonly message: T
} {
  const { data } = Listen.safeParse(message)
  if (!data) return { uris: [], message }
  const { params } = data
  const uris = watchable(params.notifications.resourceSubscriptions)
  const notifications = { ...params.notifications, resourceSubscriptions: uris }
  return { uris, message: { ...message, params: { ...params, notifications } } }
}

type Listener = Parameters<ServerEventBus['subscribe']>[0]

/**
 * An event bus on which each stream receives only its own resources: other API keys must not learn
 * of them. The SDK subscribes a stream while it serves the request that opens it, so the stream is
 * found by its asynchronous context.
 */
export type ResourceBus = ReturnType<typeof createResourceBus>

export function createResourceBus() {
  const opened = new AsyncLocalStorage<Set<Listener>>()
  const bus: ServerEventBus = {
    // No event is for all streams.
    publish: () => undefined,
    subscribe(listener) {
      const listeners = opened.getStore()
      listeners?.add(listener)
      return () => listeners?.delete(listener)
    },
  }
  return {
    bus,
    /** Serves the request that opens a stream. The stream receives updates of `uris` until it ends. */
    async open(watch: Watch, uris: readonly string[], serve: () => Promise<void>): Promise<void> {
      const listeners = new Set<Listener>()
      const stop = watch(uris, (uri) => {
        for (const listener of listeners) listener({ kind: 'resource_updated', uri })
      })
      try {
        await opened.run(listeners, serve)
      } finally {
        stop()
      }
    },
  }
}

/** Watches what a `subscriptions/listen` request asks for, until the returned function is called. */
export type WatchRequest = (uris: readonly string[], request: JSONRPCRequest) => () => void

/** The resources that the subscriptions of a stdio connection watch, by the ids of their requests. */
export class StdioSubscriptions {
  readonly #watch: WatchRequest
  readonly #stops = new Map<unknown, () => void>()

  constructor(watch: WatchRequest) {
    this.#watch = watch
  }

  /** Watches resources for a request. Returns the error response if they are too many. */
  begin(request: JSONRPCRequest, uris: readonly string[]): JSONRPCErrorResponse | undefined {
    try {
      this.#stops.set(request.id, this.#watch(uris, request))
      return undefined
    } catch (error) {
      if (!(error instanceof WatchLimitError)) throw error
      return errorResponse(request.id, { code: -32000, message: error.message })
    }
  }

  end(id: unknown): void {
    this.#stops.get(id)?.()
    this.#stops.delete(id)
  }

  endAll(): void {
    for (const id of [...this.#stops.keys()]) this.end(id)
  }
}
