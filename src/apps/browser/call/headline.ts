import { plainText } from '../../../text/safe-text.ts'
import { h } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { type CallData, givenId, hasEnded, numbersOf, startOf } from './data.ts'
import { isReached, outcomeBadge, outcomeOf } from './outcome.ts'

/**
 * Puts a name into bidi isolates, so that its writing direction does not change that of the
 * sentence.
 */
const isolated = (text: string) => text && `\u2068${text}\u2069`

/** Title of the view: who called whom. */
export function whoOf(call: CallData): string {
  const { direction, type } = call
  const { from, to } = numbersOf(call)
  const name = isolated(plainText(call.agent_name ?? ''))
  const other = isolated(direction === 'inbound' ? from : to)
  const outcome = outcomeOf(call)
  if (!other) return `${kinds[type ?? ''] ?? 'Call'} with ${name || 'an agent'}`
  if (outcome === 'talking') return `${name || 'The agent'} is talking with ${other}`
  const called = outcome === 'ringing' ? 'is calling' : 'called'
  if (direction === 'inbound') return `${other} ${called} ${name || 'the agent'}`
  if (direction === 'outbound' || name) return `${name || 'The agent'} ${called} ${other}`
  return `${isolated(from) || 'The agent'} ${called} ${other}`
}

const kinds: Readonly<Record<string, string>> = { web: 'Browser call', test: 'Test call' }

/** Line under the title: outcome, length, time, the account's number, and the external id. */
export function aboutCall(call: CallData, page: Page<CallData>): readonly Node[] {
  const { formats } = page
  const { from, to } = numbersOf(call)
  const began = call.started_at ?? call.start_timestamp ?? call.created
  const own = call.direction === 'inbound' ? to : from
  const id = givenId(call)
  return [
    outcomeBadge(outcomeOf(call)),
    ...lengthOf(call, page),
    ...(began ? [h('bdi', {}, formats.momentInZone(began))] : []),
    ...(own && call.direction
      ? [h('span', {}, call.direction === 'inbound' ? 'To ' : 'From ', h('bdi', {}, own))]
      : []),
    ...(id ? [h('span', {}, 'External id ', h('bdi', {}, id))] : []),
  ]
}

/** Length of the call; for a live call a running clock. */
function lengthOf(call: CallData, { formats, signal }: Page<CallData>): readonly Node[] {
  const { duration_seconds: seconds } = call
  const shown = h('span', { class: 'number' })
  const label = h('span', { class: 'hidden' }, 'Length ')
  if (hasEnded(call)) {
    if (!seconds || !isReached(outcomeOf(call))) return []
    shown.append(label, formats.length(seconds))
    return [shown]
  }
  const start = startOf(call) ?? Date.parse(call.created ?? '')
  if (Number.isNaN(start)) return []
  const count = () => {
    shown.textContent = formats.length((Date.now() - start) / 1000)
  }
  shown.role = 'timer'
  shown.ariaLabel = 'Length so far'
  count()
  const timer = setInterval(count, 1000)
  signal.addEventListener('abort', () => clearInterval(timer))
  return [shown]
}
