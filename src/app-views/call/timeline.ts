import { h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { type CallData, hasEnded, startOf, type Turn } from './data.ts'
import { otherSide } from './turns.ts'

/** Who spoke when, as a strip. `undefined`: the turns have no times. */
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

/** The end of the call; while it goes on, the last turn with a little room. */
function endOf(call: CallData, start: number, turns: readonly { readonly at: number }[]): number {
  const last = turns.at(-1)?.at ?? start
  const ended = Date.parse(call.ended_at ?? '')
  if (!Number.isNaN(ended)) return Math.max(ended, last)
  const known = start + 1000 * (call.duration_seconds ?? 0)
  return Math.max(last + (hasEnded(call) ? 0 : 3000), known)
}
