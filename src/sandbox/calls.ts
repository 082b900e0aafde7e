import type { PlacedCall } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import { withinAccount } from './accounts.ts'
import {
  CallRow,
  callAt,
  callDetailAt,
  conversationAt,
  modifiedAtNow,
  statusAtNow,
} from './call-row.ts'
import { type AnyInput, type HandlerInput, on, ReplyWithStatus } from './operation-handler.ts'
import { placeCall } from './place-call.ts'
import { notFound } from './problem.ts'
import { instant, pageOfRows } from './row-pages.ts'
import { webCallPath } from './web-calls/answer-web-call.ts'
import { webCallOf } from './web-calls/web-call-row.ts'

/** Filters of calls and conversations; only their statuses differ. */
type ActivityQuery = Omit<HandlerInput<typeof routes.calls.list>['query'], 'status'> & {
  status?: string | undefined
}

function placed(
  row: CallRow,
  { store, now, webCalls }: Pick<AnyInput, 'store' | 'now' | 'webCalls'>,
): PlacedCall {
  const token = row.type === 'web' ? webCallOf(store, row.id)?.token : undefined
  const join = {
    token: token ?? `sandbox-${row.id}`,
    room_sid: `RM_${row.id.replaceAll('-', '')}`,
    media_url: 'wss://media.sandbox.example',
    // URL of the page where a person joins in a browser. The real platform has no such field.
    ...(token !== undefined && webCalls && { page_url: webCalls.pagesAt + webCallPath + token }),
  }
  return { ...callAt(row, now), success: true, ...(row.type === 'web' && { join }) }
}

/** SQL conditions of the filters. They use the parameter `:now`. */
const activity = (query: ActivityQuery) => ({
  'agent_id = ?': query.agent_id,
  'type = ?': query.type,
  [`${statusAtNow} = ?`]: query.status,
  'direction = ?': query.direction,
  'external_id = ?': query.external_id,
  'created >= ?': instant(query.created_after),
  'created < ?': instant(query.created_before),
  [`${modifiedAtNow} >= ?`]: instant(query.updated_after),
  [`${modifiedAtNow} < ?`]: instant(query.updated_before),
})

const isUnfiltered = ({ limit: _, offset: __, ...filters }: Record<string, unknown>): boolean =>
  Object.values(filters).every((value) => value === undefined)

export const callHandlers = [
  on(routes.calls.place, (input) => {
    const { row, isRepeat } = placeCall(input)
    const reply = placed(row, input)
    return isRepeat ? new ReplyWithStatus(200, reply) : reply
  }),

  on(routes.calls.list, ({ store, account, query, now }) =>
    pageOfRows(store, CallRow, (row) => callAt(row, now), {
      table: 'calls',
      where: { 'account_id = ?': account.id, 'id = ?': query.call_id, ...activity(query) },
      params: { now },
      page: query,
      countedAs: isUnfiltered(query) ? `calls of ${account.id}` : undefined,
    }),
  ),

  on(routes.calls.get, ({ store, account, params, now }) => {
    const row = store.find(CallRow, 'calls', { id: params.call_id, account_id: account.id })
    if (!row) throw notFound('Call', params.call_id)
    return callDetailAt(row, now)
  }),

  on(routes.conversations.list, ({ store, account, query, now }) =>
    pageOfRows(store, CallRow, (row) => conversationAt(row, now), {
      table: 'calls',
      where: {
        [withinAccount('?')]: account.id,
        'id = ?': query.conversation_id,
        ...activity(query),
      },
      params: { now },
      page: query,
      countedAs: isUnfiltered(query) ? `conversations within ${account.id}` : undefined,
    }),
  ),
]
