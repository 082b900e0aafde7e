import { firstCharacters, plainText, safeJsonLines } from '../../../text/safe-text.ts'
import { button } from '../shared/controls.ts'
import { h, outwardArrow, shadeEdges } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { withSoftHyphensInSpeech } from '../shared/typography.ts'
import { type CallData, isEvent, startOf, type Turn } from './data.ts'

/** Label of the side that talks with the agent. */
export function otherSide({ answer_status, direction }: CallData): string {
  if (answer_status === 'machine') return 'Voicemail'
  return direction === 'inbound'
    ? 'Caller'
    : direction === 'outbound'
      ? 'Person called'
      : 'Other side'
}

export const agentOf = ({ agent_name }: CallData): string => plainText(agent_name ?? '') || 'Agent'

/**
 * Note that nobody has verified the words of the other side and of unknown speakers; `undefined` if
 * they said nothing.
 */
export function unverifiedNote(call: CallData): string | undefined {
  const roles = new Set(call.transcript?.spoken.map(({ role }) => role))
  const isUnknown = roles.has('unknown')
  const speakers = [
    ...(roles.has('user') ? [`the ${otherSide(call).toLowerCase()}`] : []),
    ...(isUnknown ? ['unknown speakers'] : []),
  ]
  if (speakers.length === 0) return undefined
  return `Unverified: what ${speakers.join(' and ')} ${isUnknown ? 'say' : 'says'}`
}

/** Roles of speakers. */
export const sides = ['agent', 'user', 'unknown'] as const
export type Side = (typeof sides)[number]

/** The side that speaks in a turn; `undefined` for events and tool calls. */
export const sideOf = ({ role }: Turn): Side | undefined => sides.find((side) => side === role)

const isUnverified = ({ role }: Turn) => role === 'user' || role === 'unknown'

/** Maximum length of a turn or a tool's result, characters. */
const longestText = 4000
const longestResult = 2000

/** The beginning of a long text with the number of omitted characters. */
function shortened(text: string, longest: number): string {
  const start = firstCharacters(text, longest)
  const left = text.length - start.length
  return left > 0 ? `${start} … and ${left} more characters` : text
}

/** Seconds of a turn since the start of the call; `undefined` if unknown. */
export function secondOf({ timestamp }: Turn, start: number | undefined): number | undefined {
  const at = Date.parse(timestamp ?? '')
  return start === undefined || Number.isNaN(at) ? undefined : Math.max(0, (at - start) / 1000)
}

interface TurnContext {
  readonly call: CallData
  readonly formats: Formats
  /** Opens the recording at a second, if there is one to open. */
  readonly openAt: ((seconds: number) => void) | undefined
}

/** The transcript as a conversation, oldest turn first. */
export function turnList({ call, formats, openAt }: TurnContext): HTMLElement {
  const start = startOf(call)
  const timeOf = (turn: Turn): HTMLElement | undefined => {
    const second = secondOf(turn, start)
    if (second === undefined) return undefined
    const time = formats.length(second)
    // A folded result has its time inside a `summary`, where no button may be.
    if (!openAt || !sideOf(turn)) return h('span', { class: 'at' }, time)
    const label = `Open the recording at ${time}`
    // Only the button of the turn in view is in the tab order (transcript.ts).
    const attributes = { id: `at-${turn.turn}`, class: 'quiet at', tabindex: -1, title: label }
    return button([time, outwardArrow()], () => openAt(second), {
      ...attributes,
      'aria-label': label,
    })
  }
  return h(
    'ol',
    { class: 'turns' },
    (call.transcript?.spoken ?? []).map((turn) =>
      sideOf(turn) ? speech(turn, call, timeOf(turn)) : aside(turn, timeOf(turn)),
    ),
  )
}

const speech = (turn: Turn, call: CallData, time: HTMLElement | undefined) =>
  h(
    'li',
    { class: `turn ${turn.role}`, id: `turn-${turn.turn}`, value: turn.turn },
    h('p', { class: 'who' }, h('span', { dir: 'auto' }, speakerOf(turn, call)), time),
    h(
      'p',
      { class: 'words', dir: 'auto' },
      withSoftHyphensInSpeech(shortened(plainText(turn.message ?? ''), longestText)),
    ),
  )

/** A tool call with its folded result, or an event. */
function aside(turn: Turn, time: HTMLElement | undefined): HTMLElement {
  const { role, message, result } = turn
  const words = shortened(plainText(message ?? ''), longestText)
  const name = [!isEvent(role) && h('code', {}, nameOf(turn)), ' ', words, ' ', time]
  return h(
    'li',
    { class: 'turn aside', id: `turn-${turn.turn}`, value: turn.turn },
    result === undefined
      ? h('p', { dir: 'auto' }, name)
      : h(
          'details',
          {},
          h('summary', { id: `result-${turn.turn}`, dir: 'auto' }, name),
          shadeEdges(
            h('pre', { dir: 'auto' }, shortened(safeJsonLines(result ?? null), longestResult)),
          ),
        ),
  )
}

const nameOf = ({ role, name }: Turn) => plainText(name ?? '') || plainText(role)

/** Text of a turn for screen readers. */
export const spokenLine = (turn: Turn, call: CallData): string => {
  const mark = isUnverified(turn) ? ', unverified' : ''
  const line = `${speakerOf(turn, call)}${mark}: ${plainText(turn.message ?? '')}`
  return firstCharacters(line, longestText)
}

export function speakerOf(turn: Turn, call: CallData): string {
  switch (turn.role) {
    case 'user':
      return otherSide(call)
    case 'agent':
      return agentOf(call)
    case 'tool':
      return `Tool ${plainText(turn.name ?? '')}`.trim()
    case 'unknown':
      return 'Unknown speaker'
    default:
      return plainText(turn.role)
  }
}
