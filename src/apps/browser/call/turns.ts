import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { type CallData, hasEnded, startOf, type Turn } from './data.ts'

/**
 * Label of the person who talks with the agent, by the call's direction. What this person says is
 * always marked.
 */
const otherSide = ({ direction }: Pick<CallData, 'direction'>): string =>
  direction === 'inbound' ? 'Caller' : direction === 'outbound' ? 'Person called' : 'Other side'

/** Maximum length of a turn or a tool's result, characters. */
const longestText = 4000
const longestResult = 2000

/** The beginning of a long text with the number of omitted characters. */
function shortened(text: string, longest: number): string {
  const start = firstCharacters(text, longest)
  const left = text.length - start.length
  return left > 0 ? `${start} … and ${left} more characters` : text
}

/** The transcript as a list, oldest first. */
export function turnList(call: CallData, formats: Formats): HTMLElement {
  const start = startOf(call)
  return h(
    'ol',
    { class: 'turns', id: 'turns' },
    (call.transcript?.spoken ?? []).map((turn) => turnItem(turn, { call, start, formats })),
  )
}

function turnItem(
  turn: Turn,
  {
    call,
    start,
    formats,
  }: { readonly call: CallData; readonly start: number | undefined; readonly formats: Formats },
): HTMLElement {
  const at = Date.parse(turn.timestamp ?? '')
  const isKnown = start !== undefined && !Number.isNaN(at)
  return h(
    'li',
    { class: `turn ${kindOf(turn.role)}`, value: turn.turn },
    h(
      'div',
      { class: 'who' },
      h('strong', {}, speakerOf(turn, call)),
      isUnverified(turn) && h('span', { class: 'mark' }, 'unverified speech'),
      isKnown && h('span', { class: 'muted' }, formats.length((at - start) / 1000)),
    ),
    h('div', { dir: 'auto' }, shortened(plainText(turn.message ?? ''), longestText)),
    turn.result !== undefined && toolResult(turn),
  )
}

/** True for words that are, or may be, the other side's. */
const isUnverified = ({ role }: Turn) => role === 'user' || role === 'unknown'

const kindOf = (role: string) => (role === 'user' || role === 'agent' ? role : 'other')

/** A turn for screen readers. */
export const spokenLine = (turn: Turn, call: CallData): string => {
  const mark = isUnverified(turn) ? ', unverified' : ''
  const line = `${speakerOf(turn, call)}${mark}: ${plainText(turn.message ?? '')}`
  return firstCharacters(line, longestText)
}

function speakerOf({ role, name }: Turn, call: CallData): string {
  switch (role) {
    case 'user':
      return otherSide(call)
    case 'agent':
      return plainText(call.agent_name ?? '') || 'Agent'
    case 'tool':
      return `Tool ${plainText(name ?? '')}`.trim()
    default:
      return plainText(role)
  }
}

const toolResult = ({ turn, result }: Turn) =>
  h(
    'details',
    {},
    h('summary', { id: `result-${turn}` }, 'Result of the tool'),
    h('code', {}, shortened(plainText(JSON.stringify(result) ?? ''), longestResult)),
  )

/** Timeline of the speakers; `undefined` if the turns have no times. */
export function timeline(call: CallData, formats: Formats): HTMLElement | undefined {
  const turns = timed(call.transcript?.spoken ?? [])
  const start = startOf(call) ?? turns[0]?.at
  if (turns.length < 2 || start === undefined) return undefined
  const end = endOf(call, start, turns)
  const whole = Math.max(1, end - start)
  const segments = turns.map(({ role, at }, index) => {
    const until = turns[index + 1]?.at ?? end
    const segment = h('span', {
      class: `segment ${role === 'user' ? 'user' : role === 'agent' ? 'agent' : 'other'}`,
    })
    segment.style.left = percent((at - start) / whole)
    segment.style.width = percent((until - at) / whole)
    return segment
  })
  const spoken = (role: string) => turns.filter((turn) => turn.role === role).length
  const label = `${formats.length(whole / 1000)} minutes; turns of the agent: ${spoken('agent')}, of the other side: ${spoken('user')}`
  return h(
    'figure',
    { class: 'timeline' },
    h('div', { class: 'strip', role: 'img', 'aria-label': label }, segments),
    h(
      'figcaption',
      { class: 'row muted' },
      h('span', {}, h('span', { class: 'key agent' }), 'Agent'),
      h('span', {}, h('span', { class: 'key user' }), otherSide(call)),
      h('span', { class: 'end' }, formats.length(whole / 1000)),
    ),
  )
}

const percent = (part: number) => `${Math.min(100, Math.max(0, part * 100))}%`

const timed = (turns: readonly Turn[]) =>
  turns
    .map(({ role, timestamp }) => ({ role, at: Date.parse(timestamp ?? '') }))
    .filter(({ at }) => !Number.isNaN(at))

/** End of the call; for a call under way the last turn plus some margin. */
function endOf(call: CallData, start: number, turns: readonly { readonly at: number }[]): number {
  const last = turns.at(-1)?.at ?? start
  const ended = Date.parse(call.ended_at ?? '')
  if (!Number.isNaN(ended)) return Math.max(ended, last)
  const known = start + 1000 * (call.duration_seconds ?? 0)
  return Math.max(last + (hasEnded(call) ? 0 : 3000), known)
}
