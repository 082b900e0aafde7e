import { randomUUID } from 'node:crypto'
import type { CallCreate, PlacedCall } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import { withinAccount } from './accounts.ts'
import { merge } from './agent-config.ts'
import { type AgentRow, findAgent } from './agents.ts'
import { type CallPlan, magicDestinations, planCall } from './call-plan.ts'
import { type CallSettings, callSettings } from './call-settings.ts'
import {
  CallRow,
  callAt,
  callDetailAt,
  conversationAt,
  modifiedAtNow,
  statusAtNow,
} from './call-state.ts'
import { renderGreeting } from './greeting.ts'
import { type HandlerInput, on, ReplyWithStatus } from './handler.ts'
import { pageOfRows } from './page.ts'
import { findNumber } from './phone-numbers.ts'
import { invalid, notFound } from './problem.ts'
import { findSipTrunk } from './sip-trunks.ts'
import type { SqlParams, Store } from './store.ts'

type PlaceInput = HandlerInput<typeof routes.calls.place>
type ActivityQuery = HandlerInput<typeof routes.calls.list>['query']

/** The agent that is to speak: it exists and is not archived. */
function speaker({ store, account, body }: PlaceInput): AgentRow {
  const agent = findAgent(store, account.id, body.agent_id)
  if (!agent) throw invalid('body.agent_id', `No agent with id ${body.agent_id} in this account.`)
  if (agent.is_archived) throw invalid('body.agent_id', 'The agent is archived.')
  return agent
}

type Numbers = Pick<CallRow, 'phone_number_id' | 'from_number' | 'to_number'>

/** The numbers of a phone call: one of the account's own that can dial out, and a callee. */
function line({ store, account, body }: PlaceInput): Numbers {
  const { from_number, to_number } = body
  if (from_number === undefined) {
    throw invalid('body.from_number', 'A phone call needs the number to call from.', 'missing')
  }
  if (to_number === undefined) {
    throw invalid('body.to_number', 'A phone call needs the number to call.', 'missing')
  }
  const number = findNumber(store, account.id, from_number)
  if (!number) throw invalid('body.from_number', `${from_number} is no number of this account.`)
  const trunk = number.sip_trunk_id && findSipTrunk(store, account.id, number.sip_trunk_id)
  if (!trunk) throw invalid('body.from_number', `${from_number} is on no SIP trunk.`)
  if (!trunk.termination_uri) {
    throw invalid('body.from_number', `The SIP trunk of ${from_number} has no termination URI.`)
  }
  if (magicDestinations[to_number]?.scenario === 'invalid') {
    throw invalid('body.to_number', `${to_number} is not a number that can be called.`)
  }
  return { phone_number_id: number.id, from_number, to_number }
}

function planFor(settings: CallSettings, numbers: Numbers, { body, now }: PlaceInput): CallPlan {
  return planCall({
    ...(numbers.to_number !== null && { toNumber: numbers.to_number }),
    settings,
    greeting: renderGreeting(settings.initial_message, {
      agentId: body.agent_id,
      agentNumber: numbers.from_number,
      contactNumber: numbers.to_number,
      direction: directionOf(body.type),
      medium: body.type,
      now,
      testVariables: body.test_variables ?? {},
    }),
  })
}

const directionOf = (type: CallCreate['type']) => (type === 'phone' ? 'outbound' : 'inbound')

/** A row with the whole course of the call, on the wall clock. */
export function rowOfPlan(
  who: Pick<
    CallRow,
    | 'account_id'
    | 'type'
    | 'direction'
    | 'agent_id'
    | 'agent_name'
    | 'phone_number_id'
    | 'from_number'
    | 'to_number'
    | 'external_id'
    | 'is_recorded'
  >,
  plan: CallPlan,
  { created, speed, id = randomUUID() }: { created: number; speed: number; id?: string },
): CallRow {
  const ms = (seconds: number) => Math.round((seconds * 1000) / speed)
  const picked = created + ms(plan.ringSeconds)
  return {
    ...who,
    id,
    created,
    answered: plan.isAnswered ? picked : null,
    ended: picked + ms(plan.talkSeconds),
    answer_status: plan.answerStatus,
    outcome: plan.outcome,
    duration_seconds: plan.talkSeconds,
    speed,
    script: JSON.stringify(plan.script),
  }
}

export function insertCall(store: Store, row: CallRow): void {
  store.run(
    `INSERT INTO calls (${callColumns.join(', ')}) VALUES (:${callColumns.join(', :')})`,
    row,
  )
}
const callColumns = Object.keys(CallRow.shape)

function findByExternalId(store: Store, accountId: string, externalId: string) {
  const sql = 'SELECT * FROM calls WHERE account_id = :accountId AND external_id = :externalId'
  return store.get(CallRow, sql, { accountId, externalId })
}

function placed(row: CallRow, now: number): PlacedCall {
  const join = {
    token: `sandbox-${row.id}`,
    room_sid: `RM_${row.id.replaceAll('-', '')}`,
    media_url: 'wss://media.sandbox.example',
  }
  return { ...callAt(row, now), success: true, ...(row.type === 'web' && { join }) }
}

/** SQL conditions and parameters of the filters that calls and conversations share. */
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
      created_after !== undefined && 'created > :created_after',
      created_before !== undefined && 'created < :created_before',
      updated_after !== undefined && `${modifiedAtNow} > :updated_after`,
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

export const callHandlers = [
  on(routes.calls.place, (input) => {
    const { store, account, body, now, speed } = input
    return store.transaction(() => {
      // A repeated external_id returns the first call [S]; nobody is rung twice.
      const first = body.external_id && findByExternalId(store, account.id, body.external_id)
      if (first) return new ReplyWithStatus(200, placed(first, now))
      const agent = speaker(input)
      const numbers: Numbers =
        body.type === 'phone'
          ? line(input)
          : { phone_number_id: null, from_number: null, to_number: null }
      const { name } = agent.config
      const settings = callSettings(
        body.overrides ? merge(agent.config, body.overrides) : agent.config,
      )
      const row = rowOfPlan(
        {
          ...numbers,
          account_id: account.id,
          type: body.type,
          direction: directionOf(body.type),
          agent_id: agent.id,
          agent_name: typeof name === 'string' ? name : null,
          external_id: body.external_id ?? null,
          is_recorded: Number(settings.capture_settings.recording_enabled),
        },
        planFor(settings, numbers, input),
        { created: now, speed },
      )
      insertCall(store, row)
      return placed(row, now)
    })
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
      },
      (row) => conversationAt(row, now),
    )
  }),
]
