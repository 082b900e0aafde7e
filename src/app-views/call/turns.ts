import { firstCharacters } from '../../text/first-characters.ts'
import { plainText } from '../../text/plain-text.ts'
import { h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { type CallData, startOf, type Turn } from './data.ts'

/** The other side of a call by its direction. What it said is marked wherever it is shown. */
export const otherSide = ({ direction }: Pick<CallData, 'direction'>): string =>
  direction === 'inbound' ? 'Caller' : direction === 'outbound' ? 'Person called' : 'Other side'

/** Longest text of one turn, and of a tool's result, in characters. */
const longestText = 4000
const longestResult = 2000

/** The beginning of a long text, which says how much is left out. */
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
      turn.role === 'user' && h('span', { class: 'mark' }, 'unverified speech'),
      isKnown && h('span', { class: 'muted' }, formats.length((at - start) / 1000)),
    ),
    h('div', { dir: 'auto' }, shortened(plainText(turn.message ?? ''), longestText)),
    turn.result !== undefined && toolResult(turn),
  )
}

const kindOf = (role: string) => (role === 'user' || role === 'agent' ? role : 'other')

/** One turn as it is read out. */
export const spokenLine = (turn: Turn, call: CallData): string => {
  const mark = turn.role === 'user' ? ', unverified' : ''
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
