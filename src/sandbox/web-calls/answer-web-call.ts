import * as z from 'zod'
import type { HtmlPage } from '../../apps/pages/page.ts'
import { speaksGerman } from '../agent-call-settings.ts'
import type { Dialogue, ScriptLine } from '../dialogue.ts'
import { type LlmCalls, LlmError } from '../llm-dialogue.ts'
import type { Store } from '../store.ts'
import { type Reply, replyByRules } from './rule-based-replies.ts'
import {
  goOn,
  hangUp,
  join,
  longestText,
  type Refusal,
  stateOf,
  talkOf,
  type WebCallRow,
  type WebTalk,
  webCallByToken,
} from './web-call-state.ts'

/** Path prefix of the pages; the call's token follows. */
export const webCallPath = '/web-calls/'

export const isForWebCall = (path: string): boolean => path.startsWith(webCallPath)

/** Query of the page on which the caller joined. Another page of the call only watches. */
const joinedMark = 'joined'

/** Actions on the page. */
const Action = z.discriminatedUnion('action', [
  z.object({ action: z.literal('join') }),
  z.object({ action: z.literal('say'), text: z.string().trim().min(1).max(longestText) }),
  /** The person is typing: suppresses the agent's reminders. */
  z.object({ action: z.literal('typing') }),
  z.object({ action: z.literal('hang_up') }),
])
type Action = z.output<typeof Action>
const actions = Action.options.flatMap(({ shape }) => shape.action.value)

/** Maximum length of a form, bytes. An encoded character takes up to twelve bytes. */
const longestForm = 16_000

/**
 * Serves the page of a web call. The unguessable token in its URL is the only credential, and only
 * whoever placed the call receives it.
 */
export async function answerWebCall(request: Request, context: WebCallContext): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const [token = '', part] = pathname.slice(webCallPath.length).split('/')
  const web = webCallByToken(context.store, token)
  const { webCallPage, noWebCallPage } = await import('./web-call-page.ts')
  if (!web || !['state', undefined].includes(part)) {
    const isForScript = part === 'state' || wantsJson(request)
    return isForScript ? Response.json(noWebCall, { status: 404 }) : send(request, noWebCallPage())
  }
  const isCaller = searchParams.has(joinedMark)
  if (request.method === 'POST') return act(request, web, { ...context, isCaller })
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD, POST' } })
  }
  const state = stateOf(context.store, web, { now: context.now(), isCaller })
  return part === 'state' ? Response.json(state, notStored) : send(request, webCallPage(state))
}

const wantsJson = ({ headers }: Request) =>
  headers.get('accept')?.includes('application/json') ?? false

/** Reply to the script of an open page whose call no longer exists. */
const noWebCall = {
  error: 'The sandbox does not have this call any more. Place a web call again.',
}

const notStored = { headers: { 'cache-control': 'no-store' } }

const send = ({ method }: Request, { status, headers, body }: HtmlPage) =>
  new Response(method === 'HEAD' ? null : body, { status, headers })

/**
 * Performs an action of the page. The page's script gets the new state as JSON, a plain form a
 * redirect to the page.
 */
async function act(
  request: Request,
  web: WebCallRow,
  context: WebCallContext & { readonly isCaller: boolean },
): Promise<Response> {
  const form = await readForm(request)
  const { data } = Action.safeParse(form && Object.fromEntries(form))
  if (!data) {
    return wantsJson(request)
      ? Response.json({ error: problemOf(form) }, { status: 422 })
      : backToPage(web, context.isCaller)
  }
  const refusal = await perform(data, web, context)
  const isCaller = data.action === 'join' ? refusal === undefined : context.isCaller
  if (!wantsJson(request)) return backToPage(web, isCaller)
  const row = webCallByToken(context.store, web.token) ?? web
  const state = stateOf(context.store, row, { now: context.now(), isCaller })
  return Response.json(
    { ...state, ...(refusal && { error: refusals[refusal] }) },
    { ...notStored, status: refusal ? 409 : 200 },
  )
}

/** Why a form is not a valid action. `form` is `undefined` if it was too long to be read. */
const problemOf = (form: URLSearchParams | undefined): string =>
  form === undefined || form.get('action') === 'say'
    ? `Say something of up to ${longestText} characters.`
    : `No such action: ${actions.join(', ')}.`

const refusals: Readonly<Record<Refusal, string>> = {
  not_waiting: 'Somebody else has joined this call.',
  not_joined: 'Join the call first.',
  ended: 'The call has ended.',
  too_many: 'The call has as many lines as the sandbox keeps. Hang up and start another.',
}

/**
 * RFC 9110 §15.4.4: the browser reads the page again, and a reload resends nothing. The address is
 * relative, because a proxy may add a path prefix.
 */
const backToPage = ({ token }: WebCallRow, isCaller: boolean) =>
  new Response(null, {
    status: 303,
    headers: { location: isCaller ? `${token}?${joinedMark}` : token },
  })

async function readForm(request: Request): Promise<URLSearchParams | undefined> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of request.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > longestForm) return undefined
  }
  return new URLSearchParams(text)
}

async function perform(
  action: Action,
  web: WebCallRow,
  context: WebCallContext,
): Promise<Refusal | undefined> {
  const { store, now, live } = context
  switch (action.action) {
    case 'join': {
      const refusal = await store.write(() =>
        join(store, webCallByToken(store, web.token) ?? web, { now: now(), voice: voiceOf(live) }),
      )
      const { initialText } = talkOf(web)
      if (refusal || initialText === null) return refusal
      return say(initialText, { ...web, joined: now() }, context)
    }
    case 'typing':
      return store.write(() => goOn(store, web, now(), () => 'goes_on'))
    case 'hang_up':
      return store.write(() => hangUp(store, web, now()))
    case 'say':
      return say(action.text, web, context)
  }
}

/** Dependencies of the pages. */
export interface WebCallContext {
  readonly store: Store
  readonly now: () => number
  /** Present when a language model speaks for agents. */
  readonly live: LlmCalls | undefined
}

/** Transcript line that states who speaks for the agent: rules or a language model. */
const voiceOf = (live: LlmCalls | undefined): string =>
  live
    ? `The agent is simulated: ${live.model} speaks for it.`
    : 'The agent is simulated: it answers by simple rules.'

/** Adds the person's line, then the agent's answer, by rules or by a language model. */
async function say(
  text: string,
  web: WebCallRow,
  { store, now, live }: WebCallContext,
): Promise<Refusal | undefined> {
  const talk = talkOf(web)
  if (live) return sayToModel(text, web, { store, now, live })
  return store.write(() =>
    goOn(store, web, now(), (dialogue) => {
      const turn = dialogue.lines().filter(({ role }) => role === 'user').length
      dialogue.add('user', text)
      const speaker = { ...talk.agent, isGerman: speaksGerman(talk.settings) }
      return answer(dialogue, talk, replyByRules(text, speaker, turn))
    }),
  )
}

/**
 * Answers a person's line with a language model. The line is stored first, because the model takes
 * time.
 */
async function sayToModel(
  text: string,
  web: WebCallRow,
  { store, now, live }: WebCallContext & { readonly live: LlmCalls },
): Promise<Refusal | undefined> {
  const talk = talkOf(web)
  let heard: readonly ScriptLine[] = []
  const refusal = await store.write(() =>
    goOn(store, web, now(), (dialogue) => {
      dialogue.add('user', text)
      heard = [...dialogue.lines()]
      return 'goes_on'
    }),
  )
  if (refusal) return refusal
  try {
    const reply = await live.reply(talk, heard)
    return await store.write(() =>
      goOn(store, web, now(), (dialogue) => answer(dialogue, talk, reply)),
    )
  } catch (error) {
    if (!(error instanceof LlmError)) throw error
    const { message } = error
    return await store.write(() =>
      goOn(store, web, now(), (dialogue) => {
        dialogue.event(`The language model endpoint failed: ${message}.`)
        return 'goes_on'
      }),
    )
  }
}

function answer(dialogue: Dialogue, { settings }: WebTalk, { text, isOver }: Reply) {
  if (text) dialogue.add('agent', text)
  if (!isOver || !settings.allow_auto_hangup) return 'goes_on'
  dialogue.event('The agent hung up.')
  return 'ends'
}
