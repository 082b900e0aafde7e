import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { callSettings } from '../agent-call-settings.ts'
import { CallRow, callDetailAt, scriptOf } from '../call-row.ts'
import { Dialogue } from '../dialogue.ts'
import type { Store } from '../store.ts'

/*
 * A web call that a person can join in a browser. As for every call, its row holds a complete
 * course: the transcript so far, and the end of the call if nothing more is said (reminders, then
 * the agent hangs up). Each typed line replaces the future part. So the call ends even without this
 * process, and `calls.get` agrees with the page.
 */

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

export const talkOf = ({ talk }: WebCallRow): WebTalk => WebTalk.parse(JSON.parse(talk))

/** Why an action on a call is refused. */
export type Refusal = 'not_waiting' | 'not_joined' | 'ended' | 'too_many'

/** Maximum transcript lines. In a longer call, a person can only hang up. */
const maxLines = 1000

const callOf = (store: Store, { call_id }: WebCallRow): CallRow => {
  const row = store.find(CallRow, 'calls', { id: call_id })
  if (!row) throw new Error(`The web call ${call_id} has no call`)
  return row
}

/** Joins a waiting call, which runs in real time from now on. */
export function join(
  store: Store,
  web: WebCallRow,
  { now, voice }: { now: number; voice: string },
): Refusal | undefined {
  const row = callOf(store, web)
  if (row.ended <= now) return 'ended'
  if (web.joined !== null || (row.answered ?? 0) <= now) return 'not_waiting'
  const { settings, greeting, initialText, skipGreeting } = talkOf(web)
  const dialogue = new Dialogue(settings)
  dialogue.event(`A person joined in a browser. ${voice}`)
  if (initialText === null || !skipGreeting) dialogue.open(greeting, false)
  dialogue.silence()
  store.run('UPDATE web_calls SET joined = :now WHERE call_id = :callId', {
    callId: web.call_id,
    now,
  })
  replaceCourse(store, row, { ...row, answered: now, speed: 1 }, dialogue)
  return undefined
}

/**
 * Continues a joined call. `speak` adds lines to the conversation so far, and returns whether the
 * call goes on.
 */
export function goOn(
  store: Store,
  web: WebCallRow,
  now: number,
  speak: (dialogue: Dialogue) => 'goes_on' | 'ends',
  max = maxLines,
): Refusal | undefined {
  const row = callOf(store, web)
  if (row.ended <= now) return 'ended'
  if (web.joined === null || row.answered === null) return 'not_joined'
  const at = (now - row.answered) / 1000
  const happened = scriptOf(row).filter((line) => line.at <= at)
  if (happened.length >= max) return 'too_many'
  const dialogue = new Dialogue(talkOf(web).settings, happened)
  dialogue.notBefore(at)
  if (speak(dialogue) === 'goes_on') dialogue.silence()
  replaceCourse(store, row, row, dialogue)
  return undefined
}

/** Transcript line of a person who hangs up. */
const callerHungUp = 'The caller hung up.'

/** Hangs up, also when the transcript is full. */
export const hangUp = (store: Store, web: WebCallRow, now: number): Refusal | undefined =>
  goOn(
    store,
    web,
    now,
    (dialogue) => {
      dialogue.event(callerHungUp)
      return 'ends'
    },
    Number.POSITIVE_INFINITY,
  )

/** Stores the new course and corrects the usage counted for the old one. */
function replaceCourse(store: Store, before: CallRow, row: CallRow, dialogue: Dialogue): void {
  const { seconds, script } = dialogue.end()
  const duration_seconds = Math.round(seconds)
  if (before.outcome === 'completed') {
    store.run(
      `UPDATE usage_hours SET seconds = seconds + :more WHERE account_id = :account_id
       AND hour = :created / 3600000 AND agent_id = :agent_id AND type = :type`,
      {
        more: duration_seconds - before.duration_seconds,
        account_id: row.account_id,
        created: row.created,
        agent_id: row.agent_id,
        type: row.type,
      },
    )
  }
  store.update('calls', row.id, {
    answered: row.answered,
    ended: Math.round((row.answered ?? row.created) + seconds * 1000),
    speed: row.speed,
    outcome: 'completed',
    duration_seconds,
    script: JSON.stringify(script),
  })
}

/** State of a call for the person on its page. */
export type Phase =
  /** The agent waits; the person can join. */
  | 'waiting'
  /** Joined; the person can type. */
  | 'talking'
  /** Nobody joined; the simulated caller talks. */
  | 'watching'
  /** Over; the transcript remains. */
  | 'ended'

/** Maximum length of one typed line, characters. */
export const longestText = 1000

/** A web call as its page shows it. */
export interface WebCallState {
  readonly agentName: string
  readonly phase: Phase
  /** Length of the call, s; 0 before it is answered. */
  readonly seconds: number
  readonly messages: readonly {
    readonly role: string
    /** Label of the line. */
    readonly speaker: string
    readonly message: string
  }[]
}

interface PageReader {
  readonly now: number
  /** The reader joined the call on this page, and is its caller. */
  readonly isCaller: boolean
}

/**
 * Reads the state for the page from one snapshot. It agrees with `calls.get` at the same time,
 * except that the caller's page says 'You hung up.'
 */
export const stateOf = (
  store: Store,
  web: WebCallRow,
  { now, isCaller }: PageReader,
): WebCallState =>
  store.snapshot(() => {
    const row = callOf(store, web)
    const call = callDetailAt(row, now)
    return {
      agentName: talkOf(web).agent.name || 'the agent',
      phase: phaseOf(row, web, now),
      seconds: secondsOf(row, now),
      messages: (call.messages ?? []).map(({ role, message }) => ({
        role: role ?? '',
        speaker: speakerOf(role ?? '', web, isCaller),
        message:
          isCaller && role === 'event' && message === callerHungUp
            ? 'You hung up.'
            : (message ?? ''),
      })),
    }
  })

function speakerOf(role: string, { joined }: WebCallRow, isCaller: boolean): string {
  if (role === 'user' && joined === null) return 'Simulated caller'
  if (role === 'user') return isCaller ? 'You' : 'Caller'
  return role === 'agent' ? 'Agent' : 'Event'
}

const secondsOf = ({ answered, ended, speed }: CallRow, now: number) =>
  Math.max(0, Math.round(((Math.min(now, ended) - (answered ?? ended)) / 1000) * speed))

function phaseOf(
  { answered, created, ended }: CallRow,
  { joined }: WebCallRow,
  now: number,
): Phase {
  if (ended <= now) return 'ended'
  if (joined !== null) return 'talking'
  return (answered ?? created) > now ? 'waiting' : 'watching'
}
