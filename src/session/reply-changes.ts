import { createHash } from 'node:crypto'
import type { Client } from '../api/client.ts'
import { encodeQuery } from '../contract/query.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import type { Changes } from '../state/changes.ts'
import { canonicalId } from '../text/canonical-id.ts'

/** Whose reply to which request. */
export interface ReplyName {
  readonly route: Route
  readonly request: RouteRequest
  /** Hash of the API key. */
  readonly keyHash: string
}

/** When replies of the platform have changed, as far as the servers that share a state know. */
export interface ReplyChanges {
  /** Something was written: replies about the things that the request names may have changed. */
  wrote(request: RouteRequest): void
  /** A reply differs from the one before. */
  found(reply: ReplyName): void
  /** Calls `onChange` when a reply may have changed. Returns the function that ends this. */
  watch(reply: ReplyName, onChange: () => void): () => void
}

/** For a cache that hears of no changes: it finds them by reading. */
export const noReplyChanges: ReplyChanges = {
  wrote: () => undefined,
  found: () => undefined,
  watch: () => () => undefined,
}

/** `platform` tells platforms apart. No topic can be read: each is a hash. */
export function createReplyChanges(changes: Changes, platform: string): ReplyChanges {
  const watchers = new Map<string, Set<() => void>>()
  let telling: string | undefined
  changes.listen('written', (topic) => {
    // This server has read the reply that it tells of.
    if (topic === telling) return
    for (const onChange of watchers.get(topic) ?? []) onChange()
  })
  const topicOf = (...words: string[]) =>
    createHash('sha256')
      .update(JSON.stringify([platform, ...words]))
      .digest('base64url')
  const thingsOf = ({ params }: RouteRequest) =>
    namedThings(params).map(([name, id]) => topicOf(name, id))
  const replyTopic = ({ route, request: { params, query }, keyHash }: ReplyName) =>
    topicOf('reply', keyHash, route.id, JSON.stringify(params), encodeQuery(query))
  const announce = (topic: string) => changes.announce({ kind: 'written', topic })
  return {
    wrote: (request) => thingsOf(request).forEach(announce),
    found(reply) {
      telling = replyTopic(reply)
      announce(telling)
      telling = undefined
    },
    watch(reply, onChange) {
      const topics = [replyTopic(reply), ...thingsOf(reply.request)]
      for (const topic of topics) {
        const those = watchers.get(topic) ?? new Set()
        watchers.set(topic, those.add(onChange))
      }
      return () => {
        for (const topic of topics) {
          const those = watchers.get(topic)
          those?.delete(onChange)
          if (those?.size === 0) watchers.delete(topic)
        }
      }
    },
  }
}

/** The things that a path names, except the account that they are in. */
const namedThings = (params: RouteRequest['params']): [name: string, id: string][] =>
  Object.entries(params).flatMap(([name, value]) =>
    name === 'account_id' || typeof value !== 'string' ? [] : [[name, canonicalId(value)]],
  )

/** A client that tells of everything it writes. A write that fails may have taken effect. */
export const announcingClient = (client: Client, changes: ReplyChanges): Client => ({
  async call(route, request, signal) {
    try {
      return await client.call(route, request, signal)
    } finally {
      if (route.effect !== 'reads') changes.wrote(request)
    }
  },
})
