import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEventBus } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { watchable } from '../mcp/protocol/watched-resources.ts'

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
