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
  webCallOf,
} from './call-row.ts'
import { type AnyInput, type HandlerInput, on, pageOfRows, ReplyWithStatus } from './handler.ts'
import { placeCall } from './place-call.ts'
import { notFound } from './problem.ts'
import type { SqlParams } from './store.ts'
import { webCallPath } from './web-calls/web-calls.ts'

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
    // Page where a person joins in a browser; the real platform sends none.
    ...(token !== undefined && webCalls && { page_url: webCalls.pagesAt + webCallPath + token }),
  }
  return { ...callAt(row, now), success: true, ...(row.type === 'web' && { join }) }
}

/** SQL conditions and parameters of the filters. */
function activity(
  query: ActivityQuery,
  now: number,
): { where: (string | false)[]; params: SqlParams } {
  const { created_after, created_before, updated_after, updated_before } = query
  const instant = (text: string | undefined) => (text === undefined ? null : Date.parse(text))
  return {
    where: [
      query.agent_id !== undefined && 'agent_id = :agent_id',
      query.type !== undefined && 'type = :type',
      query.status !== undefined && `${statusAtNow} = :status`,
      query.direction !== undefined && 'direction = :direction',
      query.external_id !== undefined && 'external_id = :external_id',
      created_after !== undefined && 'created >= :created_after',
      created_before !== undefined && 'created < :created_before',
      updated_after !== undefined && `${modifiedAtNow} >= :updated_after`,
      updated_before !== undefined && `${modifiedAtNow} < :updated_before`,
    ],
    params: {
      now,
      agent_id: query.agent_id ?? null,
      type: query.type ?? null,
      status: query.status ?? null,
      direction: query.direction ?? null,
      external_id: query.external_id ?? null,
      created_after: instant(created_after),
      created_before: instant(created_before),
      updated_after: instant(updated_after),
      updated_before: instant(updated_before),
    },
  }
}

const isUnfiltered = ({ limit: _, offset: __, ...filters }: Record<string, unknown>): boolean =>
  Object.values(filters).every((value) => value === undefined)

export const callHandlers = [
  on(routes.calls.place, (input) => {
    const { row, isRepeat } = placeCall(input)
    const reply = placed(row, input)
    return isRepeat ? new ReplyWithStatus(200, reply) : reply
  }),

  on(routes.calls.list, ({ store, account, query, now }) => {
    const { where, params } = activity(query, now)
    return pageOfRows(
      store,
      CallRow,
      {
        table: 'calls',
        where: ['account_id = :account', query.call_id !== undefined && 'id = :call_id', ...where],
        params: { ...params, account: account.id, call_id: query.call_id ?? null },
        page: query,
        countedAs: isUnfiltered(query) ? `calls of ${account.id}` : undefined,
      },
      (row) => callAt(row, now),
    )
  }),

  on(routes.calls.get, ({ store, account, params, now }) => {
    const sql = 'SELECT * FROM calls WHERE id = :id AND account_id = :account'
    const row = store.get(CallRow, sql, { id: params.call_id, account: account.id })
    if (!row) throw notFound('Call', params.call_id)
    return callDetailAt(row, now)
  }),

  on(routes.conversations.list, ({ store, account, query, now }) => {
    const { conversation_id, ...rest } = query
    const { where, params } = activity(rest, now)
    return pageOfRows(
      store,
      CallRow,
      {
        table: 'calls',
        where: [withinAccount, conversation_id !== undefined && 'id = :conversation_id', ...where],
        params: { ...params, account: account.id, conversation_id: conversation_id ?? null },
        page: query,
        countedAs: isUnfiltered(query) ? `conversations within ${account.id}` : undefined,
      },
      (row) => conversationAt(row, now),
    )
  }),
]
