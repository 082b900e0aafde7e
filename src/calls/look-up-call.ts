import type { Client } from '../api/client.ts'
import { withTimeLimit } from '../api/time-limit.ts'
import type { RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { type ListedCallResult, searchCallList, searchRespelled } from './search-call-list.ts'

/**
 * How much earlier than it was sent a call may be dated by the platform, ms: more than a clock is
 * wrong, and more than two time zones differ.
 */
const clockDoubtMs = 24 * 3_600_000

export interface LookUpOptions {
  readonly forMs: number
  readonly signal: AbortSignal | undefined
  /** When the call was last sent, ms since 1970: all calls since are searched for it. */
  readonly sentAt?: number
  /** The call will be sent again if it is not found: other spellings of its id are searched, too. */
  readonly isLastLook?: boolean
}

/** Asks the platform's list for a call by its external id. Throws ApiError. */
export function lookUpCall(
  externalId: string,
  { client, request: { params, body } }: { client: Client; request: RouteRequest },
  { forMs, signal, sentAt, isLastLook }: LookUpOptions,
): Promise<ListedCallResult> {
  return withTimeLimit(forMs, signal, async (limited) => {
    const read = (query: Record<string, unknown>) =>
      client.call(routes.calls.list, { params, query }, limited)
    const { items } = await read({ external_id: externalId, limit: 10 })
    const call = items.find(({ external_id }) => external_id === externalId)
    if (call || (items.length === 0 && !isLastLook)) return { call, isCertain: true }
    // The list shows other calls, so the platform ignores the filter.
    if (sentAt === undefined) return { call, isCertain: false }
    const created_after = new Date(sentAt - clockDoubtMs).toISOString()
    const toNumber = typeof body?.to_number === 'string' ? body.to_number : undefined
    const mark = { externalId, toNumber }
    if (items.length > 0) {
      const filter = { external_id: externalId, created_after }
      return searchCallList(mark, (page) => read({ ...filter, ...page }))
    }
    // A platform that stores external ids in another spelling does not find them by the filter.
    const filter = { agent_id: body?.agent_id, created_after }
    return searchRespelled(mark, (page) => read({ ...filter, ...page }))
  })
}
