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

/** The resources that a `subscriptions/listen` message asks for. */
export function wantedResources(message: unknown): string[] {
  const { data } = Listen.safeParse(message)
  return data?.params.notifications.resourceSubscriptions ?? []
}

/**
 * The same `subscriptions/listen` message with only the resources that are watched. The SDK
 * acknowledges every resource of the message, and the client then expects notifications for it.
 */
export function onlyWatched<T>(message: T): T {
  const { data } = Listen.safeParse(message)
  if (!data) return message
  const { params } = data
  const resourceSubscriptions = watchable(wantedResources(message))
  const notifications = { ...params.notifications, resourceSubscriptions }
  return { ...message, params: { ...params, notifications } }
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

  /** Watches what a request asks for. Returns the error response if that is too much. */
  begin(request: JSONRPCRequest): JSONRPCErrorResponse | undefined {
    try {
      this.#stops.set(request.id, this.#watch(wantedResources(request), request))
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
