import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEventBus } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { watchable } from '../mcp/protocol/watched-resources.ts'

/** Watches resources for one client until the function it gives back is called. */
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
 * A `subscriptions/listen` message that asks only for resources that are watched: all it asks for is
 * acknowledged, and a client relies on being told of that.
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
 * A bus on which each stream hears its own resources only: what changes for one key is nothing to
 * tell another. The SDK subscribes a stream while it serves the request that opened it, which is
 * how the stream and its resources find each other.
 */
export type ResourceBus = ReturnType<typeof createResourceBus>

export function createResourceBus() {
  const opening = new AsyncLocalStorage<Set<Listener>>()
  const bus: ServerEventBus = {
    // Nothing here changes for everybody at once.
    publish: () => undefined,
    subscribe(listener) {
      const listeners = opening.getStore()
      listeners?.add(listener)
      return () => listeners?.delete(listener)
    },
  }
  return {
    bus,
    /** Serves the request that opens a stream; the stream hears of `uris` until `stop` is called. */
    async open(watch: Watch, uris: readonly string[], serve: () => Promise<void>): Promise<void> {
      const listeners = new Set<Listener>()
      const stop = watch(uris, (uri) => {
        for (const listener of listeners) listener({ kind: 'resource_updated', uri })
      })
      try {
        await opening.run(listeners, serve)
      } finally {
        stop()
      }
    },
  }
}
