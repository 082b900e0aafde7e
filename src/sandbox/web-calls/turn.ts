import type { Dialogue, ScriptLine } from '../dialogue.ts'
import type { LiveCalls } from '../live-calls.ts'
import { LlmError } from '../llm.ts'
import type { Store } from '../store.ts'
import { goOn, type Refusal } from './conversation.ts'
import { type Reply, replyByRules } from './replies.ts'
import { talkOf, type WebCallRow, type WebTalk } from './web-call-row.ts'

/** What the pages of web calls need of the sandbox. */
export interface WebCallContext {
  readonly store: Store
  readonly now: () => number
  /** Present when a language model speaks for agents. */
  readonly live: LiveCalls | undefined
}

/** Who speaks for the agent, as the transcript says it. */
export const voiceOf = (live: LiveCalls | undefined): string =>
  live
    ? `The agent is simulated: ${live.model} speaks for it.`
    : 'The agent is simulated: it answers by simple rules.'

/** The person says something, and the agent answers. */
export async function say(
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
      const speaker = { ...talk.agent, language: talk.language }
      return answer(dialogue, talk, replyByRules(text, speaker, turn))
    }),
  )
}

/** The same with a language model, which takes its time: what the person said is stored before. */
async function sayToModel(
  text: string,
  web: WebCallRow,
  { store, now, live }: WebCallContext & { readonly live: LiveCalls },
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
    const reply = await live.reply(talk.agent, heard)
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
