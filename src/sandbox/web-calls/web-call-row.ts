import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { callSettings } from '../call-settings.ts'
import type { Store } from '../store.ts'

const WebTalk = z.object({
  settings: z.record(z.string(), z.unknown()).transform(callSettings),
  greeting: z.object({ text: z.string(), error: z.string().nullable() }),
  agent: z.object({ name: z.string().nullable(), note: z.string().nullable() }),
  /** As the voice has it, such as `de-de`; empty where it has none. */
  language: z.string(),
  /** What the person says first, before anything is typed. */
  initialText: z.string().nullable(),
  skipGreeting: z.boolean(),
})
/** What an agent needs to talk with the person who joins a web call. */
export type WebTalk = z.output<typeof WebTalk>

/** A web call that can be joined in a browser. */
const WebCallRow = z.object({
  call_id: z.string(),
  token: z.string(),
  talk: z.string(),
  /** Unix ms; null: nobody has joined. */
  joined: z.int().nullable(),
})
export type WebCallRow = z.output<typeof WebCallRow>

/** Stores that a call can be joined. The token in the address of its page is the only way in. */
export function insertWebCall(store: Store, callId: string, talk: WebTalk): void {
  store.run('INSERT INTO web_calls (call_id, token, talk) VALUES (:callId, :token, :talk)', {
    callId,
    token: randomUUID().replaceAll('-', ''),
    talk: JSON.stringify(talk),
  })
}

export const webCallByToken = (store: Store, token: string): WebCallRow | undefined =>
  store.get(WebCallRow, 'SELECT * FROM web_calls WHERE token = :token', { token })

export const webCallOf = (store: Store, callId: string): WebCallRow | undefined =>
  store.get(WebCallRow, 'SELECT * FROM web_calls WHERE call_id = :callId', { callId })

export function markJoined(store: Store, callId: string, now: number): void {
  store.run('UPDATE web_calls SET joined = :now WHERE call_id = :callId', { callId, now })
}

/** The talk as it was stored. */
export const talkOf = ({ talk }: WebCallRow): WebTalk => WebTalk.parse(JSON.parse(talk))
