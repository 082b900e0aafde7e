import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { callSettings } from '../agent-call-settings.ts'
import type { Store } from '../store.ts'

const WebTalk = z.object({
  settings: z.record(z.string(), z.unknown()).transform(callSettings),
  greeting: z.object({ text: z.string(), error: z.string().nullable() }),
  agent: z.object({ name: z.string().nullable(), note: z.string().nullable() }),
  /** The person's first words, sent when the person joins the call. */
  initialText: z.string().nullable(),
  skipGreeting: z.boolean(),
})
/** What the agent of a web call needs to talk with a person. */
export type WebTalk = z.output<typeof WebTalk>

/** A web call that can be joined in a browser. */
const WebCallRow = z.object({
  call_id: z.string(),
  token: z.string(),
  talk: z.string(),
  /** Unix ms; null until somebody joins. */
  joined: z.int().nullable(),
})
export type WebCallRow = z.output<typeof WebCallRow>

/**
 * Makes a web call joinable in a browser. Its new random token, a part of the page's URL, is the
 * only credential.
 */
export function insertWebCall(store: Store, callId: string, talk: WebTalk): void {
  const token = randomUUID().replaceAll('-', '')
  store.insert('web_calls', { call_id: callId, token, talk: JSON.stringify(talk) })
}

export const webCallByToken = (store: Store, token: string): WebCallRow | undefined =>
  store.find(WebCallRow, 'web_calls', { token })

export const webCallOf = (store: Store, callId: string): WebCallRow | undefined =>
  store.find(WebCallRow, 'web_calls', { call_id: callId })

export function markJoined(store: Store, callId: string, now: number): void {
  store.run('UPDATE web_calls SET joined = :now WHERE call_id = :callId', { callId, now })
}

export const talkOf = ({ talk }: WebCallRow): WebTalk => WebTalk.parse(JSON.parse(talk))
