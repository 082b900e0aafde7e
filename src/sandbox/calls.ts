import { AgentUpdate } from '../contract/agent.ts'
import type { CallCreate, PlacedCall } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import { withinAccount } from './accounts.ts'
import { callSettings, renderGreeting } from './agent-call-settings.ts'
import { type AgentRow, findAgent, merge } from './agents.ts'
import { magicDestinations, planCall } from './call-plan.ts'
import {
  CallRow,
  callAt,
  callDetailAt,
  conversationAt,
  modifiedAtNow,
  rowOfPlan,
  statusAtNow,
} from './call-row.ts'
import type { LlmCall } from './llm-dialogue.ts'
import { type HandlerInput, on, ReplyWithStatus } from './operation-handler.ts'
import { findNumber } from './phone-numbers.ts'
import { invalid, missingReference, notFound, Problem } from './problem.ts'
import { fieldError } from './request.ts'
import { instant, pageOfRows } from './row-pages.ts'
import { findSipTrunk } from './sip-trunks.ts'
import { webCallPath } from './web-calls/answer-web-call.ts'
import { insertWebCall, type WebTalk, webCallOf } from './web-calls/web-call-state.ts'

/** Handlers of calls and conversations. */
export const callHandlers = [
  on(routes.calls.place, (input) => {
    const { row, isRepeat } = placeCall(input)
    const reply = placedReply(row, input)
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

/** Filters of calls and conversations; only their statuses differ. */
type ActivityQuery = Omit<HandlerInput<typeof routes.calls.list>['query'], 'status'> & {
  status?: string | undefined
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

type PlaceInput = HandlerInput<typeof routes.calls.place>

/** Places a call, or returns the earlier one with the same external_id [S]. */
function placeCall(input: PlaceInput): { row: CallRow; isRepeat: boolean } {
  const { store, account, body, live, webCalls } = input
  let speaking: LlmCall | undefined
  const placed = store.transaction(() => {
    const { external_id } = body
    const first =
      external_id !== undefined &&
      store.find(CallRow, 'calls', { account_id: account.id, external_id })
    if (first) return { row: first, isRepeat: true }
    const call = prepare(input)
    if (live && isOrdinary(call.row)) speaking = call
    const row = live && speaking ? live.begin(speaking) : call.row
    store.insert('calls', row)
    if (body.type === 'web' && webCalls) insertWebCall(store, row.id, webTalk(call, body))
    return { row, isRepeat: false }
  })
  // The conversation begins after the call is stored.
  if (live && speaking) {
    const waitMs = body.type === 'web' ? (webCalls?.waitMs ?? 0) : 0
    void live.run(speaking, waitMs)
  }
  return placed
}

/** The reply to the request that placed a call. */
function placedReply(
  row: CallRow,
  { store, now, webCalls }: Pick<PlaceInput, 'store' | 'now' | 'webCalls'>,
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

/** Decides the whole course of a call, without storing it. */
function prepare(input: PlaceInput): LlmCall {
  const { account, body, now, speed, webCalls } = input
  const agent = speaker(input)
  const numbers = body.type === 'phone' ? line(input) : noNumbers
  const config = body.overrides ? merge(agent.config, checked(body.overrides)) : agent.config
  const settings = callSettings(config)
  const greeting = renderGreeting(settings.initial_message, {
    agentId: agent.id,
    agentNumber: numbers.from_number,
    contactNumber: numbers.to_number,
    direction: directionOf(body.type),
    medium: body.medium ?? body.type,
    now,
    testVariables: body.test_variables ?? {},
  })
  const row = rowOfPlan(
    {
      ...numbers,
      account_id: account.id,
      type: body.type,
      direction: directionOf(body.type),
      agent_id: agent.id,
      agent_name: textOf(config.name),
      external_id: body.external_id ?? null,
      is_recorded: Number(settings.capture_settings.recording_enabled),
    },
    planCall({
      ...(numbers.to_number !== null && { toNumber: numbers.to_number }),
      settings,
      greeting,
      ...(body.type === 'web' && webCalls && { ringSeconds: (webCalls.waitMs / 1000) * speed }),
    }),
    { created: now, speed },
  )
  return {
    row,
    settings,
    greeting,
    agent: { name: textOf(config.name), note: textOf(config.note) },
    persona: textOf(body.test_variables?.caller_persona),
  }
}

const directionOf = (type: CallCreate['type']) => (type === 'phone' ? 'outbound' : 'inbound')

const noNumbers: Numbers = { phone_number_id: null, from_number: null, to_number: null }

/** The agent of the call. Throws for an unknown or archived agent. */
function speaker({ store, account, body }: PlaceInput): AgentRow {
  const agent = findAgent(store, account.id, body.agent_id)
  if (!agent) throw missingReference('agent_id', 'Agent', body.agent_id)
  if (agent.is_archived) throw invalid('body.agent_id', 'The agent is archived.')
  return agent
}

type Numbers = Pick<CallRow, 'phone_number_id' | 'from_number' | 'to_number'>

/**
 * The numbers of a phone call. The calling number must belong to the account and be on a trunk that
 * can dial out.
 */
function line({ store, account, body }: PlaceInput): Numbers {
  const { from_number, to_number } = body
  if (from_number === undefined || to_number === undefined) {
    const missing = Object.entries({ from_number, to_number }).filter(([, given]) => !given)
    throw new Problem(422, 'A phone call needs the number to call from and the number to call.', {
      errors: missing.map(([name]) => ({
        field: `body.${name}`,
        message: 'Field required for type phone.',
        type: 'missing',
      })),
    })
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

/** Validates overrides by the bounds of agent fields. */
function checked(overrides: Record<string, unknown>): Record<string, unknown> {
  const parsed = AgentUpdate.safeParse(overrides, { reportInput: true })
  if (parsed.success) return parsed.data
  throw new Problem(422, 'The request is not valid.', {
    errors: parsed.error.issues.map((issue) => fieldError('body.overrides', issue)),
  })
}

const webTalk = (
  { settings, greeting, agent }: LlmCall,
  { initial_text, skip_greeting_on_initial_text }: CallCreate,
): WebTalk => ({
  settings,
  greeting,
  agent,
  initialText: initial_text || null,
  skipGreeting: skip_greeting_on_initial_text ?? false,
})

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)

/** True if a language model may speak: the destination has no fixed outcome. */
const isOrdinary = ({ to_number }: CallRow) => to_number === null || !magicDestinations[to_number]
