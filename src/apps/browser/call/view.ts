import { button, h } from '../shared/dom.ts'
import { type Args, type Drawing, type Page, startView } from '../shared/view.ts'
import { batch } from './batch.ts'
import { CallData, hasEnded, joinCalls } from './data.ts'
import { aboutCall, whoOf } from './headline.ts'
import { recordingOf } from './recording.ts'
import { conversation } from './transcript.ts'
import { spokenLine } from './turns.ts'

/** The user has paused the updates of a call under way. */
let isPaused = false

/** The last shown list of calls, and the arguments of the tool call that returned it. */
let list: { readonly data: CallData; readonly input: Args } | undefined

startView({ name: 'call', title: 'Call', what: 'the call', schema: CallData, draw })

function draw(call: CallData, page: Page<CallData>): Drawing {
  if (call.calls) {
    list = { data: call, input: page.input }
    return batch(call, page)
  }
  const isLive = !hasEnded(call) && page.host.canCallTools() && pollOf(call) !== undefined
  const isFollowed = isLive && !isPaused
  if (isFollowed) follow(call, page, () => pause(page, true))
  announceNews(call, page)
  const content = [
    ...backButton(call, page),
    ...conversation(call, page, {
      recording: recordingOf(call, page),
      isFollowed,
      actions: isLive ? [pauseButton(page)] : [],
      more: readMore(call, page),
    }),
  ]
  return { title: whoOf(call), about: aboutCall(call, page), content }
}

/** Returns to the list that contains the call. */
function backButton({ id }: CallData, page: Page<CallData>): readonly Node[] {
  const from = list
  if (!from?.data.calls?.some(({ call_id }) => call_id === id)) return []
  const back = () => {
    page.showAgain(from.data, from.input)
    document.getElementById('calls')?.focus()
  }
  return [h('div', {}, button('All calls', back, { id: 'all-calls' }))]
}

let lastAnnounced: number | undefined
let wasLive = false

/** Announces to screen readers what was said since the last rendering, and the call's end. */
function announceNews(call: CallData, page: Page<CallData>): void {
  const { spoken = [] } = call.transcript ?? {}
  const known = lastAnnounced
  const hasJustEnded = wasLive && hasEnded(call)
  wasLive = !hasEnded(call)
  lastAnnounced = spoken.at(-1)?.turn ?? 0
  if (known === undefined) return
  const news = spoken.filter(({ turn }) => turn > known).map((turn) => spokenLine(turn, call))
  if (hasJustEnded) news.push('The call has ended.')
  if (news.length > 0) page.announce(news.join(' '))
}

function pause(page: Page<CallData>, pauses: boolean): void {
  isPaused = pauses
  page.redraw()
}

const pauseButton = (page: Page<CallData>): HTMLElement =>
  button(isPaused ? 'Follow the call' : 'Stop following', () => pause(page, !isPaused), {
    id: 'pause',
  })

/** Reads turns that did not fit into the result, or were not requested. */
function readMore(call: CallData, { host, call: read }: Page<CallData>): (() => void) | undefined {
  const { turns = 0, next_turn = null, spoken = [] } = call.transcript ?? {}
  const poll = pollOf(call)
  if (spoken.length >= turns || !poll || !host.canCallTools()) return undefined
  const isFromStart = spoken[0]?.turn === 1
  const from_turn = isFromStart ? (next_turn ?? (spoken.at(-1)?.turn ?? 0) + 1) : 1
  return () => read(poll.tool, { ...poll.args, from_turn }, { join: joinCalls })
}

/** Polling interval of a call under way, ms. */
const everyMs = 3000

/** Tool and arguments to read this call again; `undefined` without an id. */
function pollOf(call: CallData): { readonly tool: string; readonly args: Args } | undefined {
  const { id, conversation_id, account_id } = call
  const account = account_id ? { account_id } : {}
  if (id) return { tool: 'get_call', args: { ...account, call_id: id } }
  if (conversation_id)
    return { tool: 'get_conversation', args: { ...account, id: conversation_id } }
  return undefined
}

/** Consecutive failures after which a call is no longer followed. */
const maxFailures = 4

/**
 * Polls a call for new turns until its end, with backoff after failures. Runs `giveUp` after
 * `maxFailures` consecutive failures.
 */
async function follow(
  call: CallData,
  { call: read, signal }: Page<CallData>,
  giveUp: () => void,
): Promise<void> {
  const poll = pollOf(call)
  if (!poll) return
  const { spoken = [] } = call.transcript ?? {}
  // A result of wait_for_call has only the latest turns.
  const last = spoken[0]?.turn === 1 ? spoken.at(-1)?.turn : undefined
  const args = { ...poll.args, ...(last !== undefined && { from_turn: last }) }
  for (let failures = 0; failures < maxFailures; ) {
    await new Promise((done) => setTimeout(done, everyMs * 2 ** failures))
    if (signal.aborted) return
    if (document.visibilityState !== 'visible') continue
    const isRead = await read(poll.tool, args, { join: joinCalls, isQuiet: true })
    if (signal.aborted) return
    failures = isRead ? 0 : failures + 1
  }
  giveUp()
}
