import { plainText } from '../../../text/safe-text.ts'
import { button } from '../shared/controls.ts'
import { createDecisions } from '../shared/decision.ts'
import type { Facts } from '../shared/decision-facts.ts'
import type { ToolWords } from '../shared/decision-words.ts'
import { type Content, h } from '../shared/dom.ts'
import { phoneNumber } from '../shared/typography.ts'
import { type Args, type Drawing, type Page, startView } from '../shared/view.ts'
import { batch } from './batch.ts'
import { CallData, givenId, hasEnded, joinCalls, numbersOf, searchIn, startOf } from './data.ts'
import { isReached, outcomeBadge, outcomeOf } from './outcome.ts'
import { conversation } from './transcript.ts'
import { spokenLine } from './turns.ts'

/** Words for the decision to place one call or a list of calls. */
const placingWords = (tool: string, facts: Facts): ToolWords =>
  tool === 'place_calls' ? manyCalls : 'To' in facts ? phoneCall : browserCall

const consequence = 'Calls cost money and cannot be hung up from here.'

const phoneCall: ToolWords = {
  answers: ['Place the call', 'Do not call'],
  simulated: 'Place a simulated call',
  effect: ['The call', 'placed'],
  ...{ kind: 'costs', consequence },
}

const manyCalls: ToolWords = {
  answers: ['Place the calls', 'Do not call'],
  simulated: 'Place simulated calls',
  effect: ['The calls', 'placed'],
  ...{ kind: 'costs', consequence },
}

const browserCall: ToolWords = {
  answers: ['Open the call', 'Do not open it'],
  simulated: 'Open a simulated call',
  effect: ['The call', 'opened'],
  consequence: 'No telephone rings, but the call may cost money.',
}

/** The user has paused the updates of a call under way. */
let isPaused = false

/** The last shown list of calls, and the arguments of the tool call that returned it. */
let list: { readonly data: CallData; readonly input: Args } | undefined

startView({
  ...{ name: 'call', title: 'Call', what: 'the call' },
  decisions: (options) => createDecisions(placingWords, options),
  skeleton: { strip: 1, bubble: 8 },
  schema: CallData,
  draw,
})

function draw(call: CallData, page: Page<CallData>): Drawing {
  if (call.calls) {
    list = { data: call, input: page.input }
    return batch(call, page)
  }
  // What a search has found belongs to the time of the search.
  const isLive = !hasEnded(call) && page.host.canCallTools() && !searchIn(page.input)
  const isFollowed = isLive && !isPaused
  if (isFollowed) follow(call, page, () => pause(page, true))
  announceNews(call, page)
  return {
    title: whoOf(call),
    about: [aboutCall(call, page), isLive && pauseButton(page)],
    content: [
      backButton(call, page),
      conversation(call, page, { isFollowed, more: readMore(call, page) }),
    ],
  }
}

/** Title of the view: who called whom. */
function whoOf(call: CallData): Content {
  const { direction, type, agent_name } = call
  const { from, to } = numbersOf(call)
  // Isolated, so that the writing direction of a name does not change that of the sentence.
  const name = agent_name ? h('bdi', {}, plainText(agent_name)) : undefined
  const other = direction === 'inbound' ? from : to
  const outcome = outcomeOf(call)
  if (!other) return [`${kinds[type ?? ''] ?? 'Call'} with `, name ?? 'an agent']
  const number = phoneNumber(other)
  if (outcome === 'talking') return [name ?? 'The agent', ' is talking with ', number]
  const called = outcome === 'ringing' ? ' is calling ' : ' called '
  if (direction === 'inbound') return [number, called, name ?? 'the agent']
  if (direction === 'outbound' || name) return [name ?? 'The agent', called, number]
  return [from ? phoneNumber(from) : 'The agent', called, number]
}

const kinds: Readonly<Record<string, string>> = { web: 'Browser call', test: 'Test call' }

/** Line under the title: outcome, length, time, the account's number, and the external id. */
function aboutCall(call: CallData, page: Page<CallData>): Content {
  const { formats } = page
  const { from, to } = numbersOf(call)
  const began = call.started_at ?? call.start_timestamp ?? call.created
  const own = call.direction === 'inbound' ? to : from
  const id = givenId(call)
  return [
    outcomeBadge(outcomeOf(call)),
    lengthOf(call, page),
    !!began && h('bdi', {}, formats.momentInZone(began)),
    !!(own && call.direction) &&
      h('span', {}, call.direction === 'inbound' ? 'To ' : 'From ', phoneNumber(own)),
    id && h('span', {}, 'External id ', h('bdi', {}, id)),
  ]
}

/** Length of the call; for a live call a running clock. */
function lengthOf(call: CallData, { formats, signal }: Page<CallData>): Content {
  const { duration_seconds: seconds } = call
  const shown = h('span', { class: 'number' })
  const label = h('span', { class: 'hidden' }, 'Length ')
  if (hasEnded(call)) {
    if (!seconds || !isReached(outcomeOf(call))) return false
    shown.append(label, formats.length(seconds))
    return shown
  }
  const start = startOf(call) ?? Date.parse(call.created ?? '')
  if (Number.isNaN(start)) return false
  const count = () => {
    shown.textContent = formats.length((Date.now() - start) / 1000)
  }
  shown.role = 'timer'
  shown.ariaLabel = 'Length so far'
  count()
  const timer = setInterval(count, 1000)
  signal.addEventListener('abort', () => clearInterval(timer))
  return shown
}

/** Returns to the list that contains the call. */
function backButton({ id }: CallData, page: Page<CallData>): Content {
  const from = list
  if (!from?.data.calls?.some(({ call_id }) => call_id === id)) return false
  const back = () => {
    page.showAgain(from.data, from.input)
    document.getElementById('batch')?.focus()
  }
  return h('div', {}, button('All calls', back, { id: 'all-calls' }))
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
function readMore(
  call: CallData,
  { input, host, call: read }: Page<CallData>,
): (() => void) | undefined {
  const { turns = 0, spoken = [] } = call.transcript ?? {}
  const poll = pollOf(call)
  if (spoken.length >= turns || !host.canCallTools()) return undefined
  // The whole conversation replaces the turns that a search has found.
  if (searchIn(input)) return () => read(poll.tool, poll.args)
  const gap = spoken.findIndex(({ turn }, index) => turn !== index + 1)
  const from_turn = (gap < 0 ? spoken.length : gap) + 1
  return () => read(poll.tool, { ...poll.args, from_turn }, { join: joinCalls })
}

/** Polling interval of a call under way, ms. */
const everyMs = 3000

/** Tool and arguments to read this call again. */
function pollOf(call: CallData): { readonly tool: string; readonly args: Args } {
  const { id, conversation_id } = call
  const account_id = call.account_id ?? undefined
  return id
    ? { tool: 'get_call', args: { account_id, call_id: id } }
    : { tool: 'get_conversation', args: { account_id, id: conversation_id } }
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
