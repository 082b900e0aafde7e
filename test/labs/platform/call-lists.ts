/** How the platform lists calls. */
export interface Listing {
  readonly ids: 'kept' | 'hidden' | 'prefixed' | 'in capitals' | 'cut'
  /** Id that the filter by external id compares: the sent id, the shown id, or none. */
  readonly filter: 'sent id' | 'shown id' | 'ignored'
  readonly ignoresOffset: boolean
  readonly maxOnPage: number
  /**
   * What `count` of the reply counts: all matching calls, or those on the page. `nothing`: the reply
   * has no `count`.
   */
  readonly count: 'all' | 'page' | 'nothing'
  readonly numbers: 'kept' | 'without +' | 'masked'
  /**
   * True if another number of the account is shown as the calling number, and agents are shown with
   * a prefix.
   */
  readonly changesOthers: boolean
}

export const documented: Listing = {
  ids: 'kept',
  filter: 'sent id',
  ignoresOffset: false,
  maxOnPage: 100,
  count: 'all',
  numbers: 'kept',
  changesOthers: false,
}

/** True if lists of this kind can hide a call, so that its outcome can stay unknown. */
export const mayHide = ({ ids, ignoresOffset, numbers }: Listing): boolean =>
  ids !== 'kept' || ignoresOffset || numbers === 'masked'

/** A request to place a telephone call, and its effect. */
export interface PlatformCall {
  readonly id: string
  readonly external_id: string
  readonly agent_id: string
  readonly to_number: string
  readonly from_number: string
  /** When the request was sent, by the lab's clock, ms. */
  readonly sentAt: number
  /** When lists first show the call, by the lab's clock, ms. */
  readonly shownAt: number
  /** When the call ends, by the lab's clock, ms. */
  readonly endsAt: number
  /** Creation time by the platform's clock, ISO 8601. */
  readonly created: string
  readonly rings: boolean
  /**
   * False: the platform replied that it did not accept the call, but lists the call nevertheless.
   */
  readonly isAccepted: boolean
  /** The reservation that permits the call. */
  readonly permitId: string | undefined
  /** The client's request that sent the call, if known. */
  readonly request: number | undefined
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
  answer_status: hasEnded ? 'human' : 'waiting',
  created: call.created,
})

/** One page of a list of these calls. */
export function listReply<T extends ShownCall>(
  calls: readonly T[],
  query: URLSearchParams,
  listing: Listing,
) {
  const { filter, ignoresOffset, maxOnPage, count } = listing
  const asked = filter === 'ignored' ? null : query.get('external_id')
  const after = query.get('created_after') ?? ''
  const items = calls.flatMap((call) => {
    const item = listed(call, listing)
    const id = filter === 'shown id' ? item.external_id : call.external_id
    return call.created >= after && (asked === null || id === asked) ? [item] : []
  })
  const offset = ignoresOffset ? 0 : Number(query.get('offset') ?? 0)
  const page = items.slice(offset, offset + Math.min(Number(query.get('limit') ?? 100), maxOnPage))
  if (count === 'nothing') return { items: page }
  return { count: count === 'page' ? page.length : items.length, items: page }
}

/** True if lists ever show the call. */
export const isOnList = ({ rings, isAccepted }: PlatformCall) => rings || !isAccepted

type ShownCall = Pick<PlatformCall, 'external_id' | 'agent_id' | 'to_number' | 'created'>

const listed = <T extends ShownCall>(call: T, { ids, numbers, changesOthers }: Listing) => ({
  ...call,
  external_id: shownId(call.external_id, ids),
  to_number: shownNumber(call.to_number, numbers),
  ...(changesOthers && { from_number: '+4930999999', agent_id: `agent_${call.agent_id}` }),
})

function shownId(externalId: string, ids: Listing['ids']): string | null {
  switch (ids) {
    case 'kept':
      return externalId
    case 'hidden':
      return null
    case 'prefixed':
      return `tenant-7/${externalId}`
    case 'in capitals':
      return externalId.toUpperCase()
    case 'cut':
      return externalId.slice(0, 12)
  }
}

function shownNumber(number: string, numbers: Listing['numbers']): string {
  if (numbers === 'kept') return number
  return numbers === 'masked' ? `${number.slice(0, 4)}******${number.slice(-2)}` : number.slice(1)
}

/** Calls on the same account that another program has placed. */
export const others = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `other-${index}`,
    external_id: `theirs-${index}`,
    agent_id: agentId,
    to_number: '+4915112399999',
    type: 'phone',
    status: 'completed',
    created: '2026-01-15T11:00:00.000Z',
  }))
