import type { Plan } from './plan.ts'

/** A request to place a call, and what became of it. */
export interface PlatformCall {
  readonly id: string
  readonly external_id: string
  readonly agent_id: string
  readonly to_number: string
  readonly from_number: string
  /** True times, ms since the history began. */
  readonly sentAt: number
  readonly shownAt: number
  readonly endsAt: number
  /** By the platform's clock. */
  readonly created: string
  readonly rings: boolean
  /** False: it answers that it did not accept the call. The call is listed all the same. */
  readonly isAccepted: boolean
  /** The reservation that permits it. */
  readonly permitId: string | undefined
  /** Which request of a client sent it. */
  readonly request: number
}

export const agentId = '00000000-0000-4000-8000-00000000a6e7'

/** A call as lists and replies show it. */
export const shown = (call: PlatformCall, hasEnded = false) => ({
  id: call.id,
  external_id: call.external_id,
  agent_id: call.agent_id,
  to_number: call.to_number,
  from_number: call.from_number,
  type: 'phone',
  status: hasEnded ? 'completed' : 'in_progress',
  created: call.created,
})

/** One page of a list. */
export function listReply(seen: readonly PlatformCall[], query: URLSearchParams, plan: Plan) {
  const asked = query.get('external_id')
  const after = query.get('created_after') ?? ''
  const items = [...others(plan.otherCalls), ...seen.filter(isListed).map((call) => shown(call))]
    .map((item) => ({ ...item, external_id: storedId(item.external_id, plan) }))
    .filter(({ created }) => created >= after)
    .filter(({ external_id }) => {
      return asked === null || plan.listing === 'unfiltered' || external_id === asked
    })
  const offset = Number(query.get('offset') ?? 0)
  const limit = Number(query.get('limit') ?? 100)
  return { count: items.length, items: items.slice(offset, offset + limit) }
}

const isListed = ({ rings, isAccepted }: PlatformCall) => rings || !isAccepted

const storedId = (externalId: string, { listing }: Plan) =>
  listing === 'shortened ids' ? externalId.slice(0, 12).toUpperCase() : externalId

const others = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `other-${index}`,
    external_id: `theirs-${index}`,
    agent_id: agentId,
    to_number: '+4915112399999',
    type: 'phone',
    status: 'completed',
    created: '2026-01-15T11:00:00.000Z',
  }))
