import * as z from 'zod'
import { requestMs } from '../calls/find-out.ts'
import { JournalError } from '../calls/journal.ts'
import {
  ExternalIdTaken,
  OutcomeUnknown,
  type Permit,
  type Placement,
  placedBefore,
  placeOnce,
} from '../calls/place.ts'
import { within } from '../calls/within.ts'
import type { Agent } from '../contract/agent.ts'
import { type CallCreate, PlacedCall } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import { confirmationShape, confirmOption } from '../mcp/confirmation.ts'
import { badArguments, Refused } from '../mcp/refused.ts'
import { named } from '../mcp/similar.ts'
import { taskOf } from '../mcp/tasks.ts'
import type { Outcome, Run, Steps } from '../mcp/tool.ts'
import type { DialRequest, Refused as Forbidden } from '../policy/verdict.ts'
import { compactText } from '../views/compact.ts'
import { accountFact, onOneName } from './facts.ts'
import { lineFact } from './line-check.ts'
import { followCall, followPlacedMs, shownCall } from './wait-for-call.ts'

const options = {
  follow: z.boolean().optional().describe('true: answer when the call has ended.'),
  ...confirmOption,
}

/** It is answered before clients give up. */
export interface Bounded {
  /** At the latest then, ms since 1970. */
  readonly until: number
}

export const bounded = <R extends object>(run: R): R & Bounded => ({
  ...run,
  until: Date.now() + requestMs,
})

type PlaceRun = Run<typeof routes.calls.place, typeof confirmOption> & Bounded

/** Places one call, exactly once: checked, allowed, confirmed, then sent. */
export const confirmedCall: Steps<typeof routes.calls.place, typeof options> = {
  options,
  schema: PlacedCall.partial().extend({
    ...confirmationShape,
    repeated: z
      .boolean()
      .optional()
      .describe('True: it had been placed before; not dialled again.'),
  }),
  async run(given) {
    const { body } = given
    refuseMixedUp(body)
    const run = await onOneName(bounded(given))
    const known = await repeated(run)
    if (known) return followed(run, known)
    const agent = await speaker(run)
    const dialled = dialRequest(run, body, agent)
    await refuseForbidden(dialled, run)
    await run.confirm({
      kind: 'calls',
      question:
        body.type === 'phone' ? `Call ${body.to_number}?` : 'Open a browser call with this agent?',
      facts: await factsOf(body, agent, run),
    })
    return followed(run, await place(run, dialled))
  },
}

/** A phone call has two numbers, a web call none: anything else is a mistake about who is called. */
function refuseMixedUp(body: CallCreate): void {
  const numbers = ['from_number', 'to_number'] as const
  const wrong = numbers.filter((name) => (body[name] === undefined) === (body.type === 'phone'))
  if (wrong.length === 0) return
  throw badArguments(
    wrong.map((argument) => ({
      argument,
      message:
        body.type === 'phone'
          ? 'required for type phone'
          : 'a web call dials nobody; for a telephone call use type phone',
    })),
  )
}

/** The agent that is to speak: it exists and is not archived. */
export async function speaker(run: PlaceRun): Promise<Agent> {
  const { request, body, session } = run
  const { account_id = 'me' } = request.params
  const asked = { params: { account_id, agent_id: body.agent_id }, query: {} }
  const agent = await within(run.until - Date.now(), run.signal, (signal) =>
    session.client.call(routes.agents.get, asked, signal),
  )
  if (!agent.is_archived) return agent
  throw badArguments([
    { argument: 'agent_id', message: `${agent.name ?? agent.id} is archived; take another agent` },
  ])
}

export const dialRequest = (
  { request }: Pick<PlaceRun, 'request'>,
  body: Pick<CallCreate, 'type' | 'from_number' | 'to_number'>,
  agent: Agent,
): DialRequest => ({
  accountId: request.params.account_id ?? 'me',
  agentId: agent.id,
  agentName: agent.name ?? null,
  type: body.type,
  fromNumber: body.from_number ?? null,
  toNumber: body.to_number ?? null,
})

async function refuseForbidden(dialled: DialRequest, { session }: PlaceRun): Promise<void> {
  const verdict = await session.dialling.policy.check(dialled)
  if (!verdict.allowed) throw forbidden(verdict)
}

/** What the operator does not allow, in words. */
export function forbidden({ rule, message, change, retryAfterSeconds }: Forbidden): Refused {
  const later =
    retryAfterSeconds === null ? '' : ` It may be tried again in ${retryAfterSeconds} s.`
  return new Refused(
    'not_allowed',
    `the call is not allowed (${rule}): ${message} Nothing was dialled`,
    {
      next: `${change}${later} Do not look for a way around it.`,
    },
  )
}

const factsOf = async (body: CallCreate, agent: Agent, run: PlaceRun) => ({
  ...(body.to_number && { 'Who is called': body.to_number }),
  Agent: named(agent.name, agent.id),
  ...(body.from_number && { 'From number': body.from_number }),
  Account: await accountFact(run),
  ...(await lineFact(run, body.from_number)),
  ...(run.session.isSandbox && { Note: 'SANDBOX: simulated, nobody is rung' }),
})

/**
 * The call that an identical request has placed: asked first, because whatever fails or refuses
 * later would be told of a call that may be ringing.
 */
async function repeated(run: PlaceRun): Promise<Placement | undefined> {
  const { request, session, signal, until } = run
  const { dialling, client, owner } = session
  const { timing, unsettled } = dialling
  return inWords(async () => {
    const journal = await dialling.journal()
    const recognising = { client, journal, owner, timing, unsettled, until }
    return placedBefore(request, recognising, signal)
  })
}

/** Sends it once, and turns what can come of that into words. */
export async function place(
  run: PlaceRun,
  dialled: DialRequest,
  { sameForMs }: { sameForMs?: number } = {},
): Promise<Placement> {
  const { request, session, signal, until } = run
  const { dialling, client, owner } = session
  const { timing, unsettled } = dialling
  const permit = () => permitFor(dialled, run)
  return inWords(async () => {
    const journal = await dialling.journal()
    const placing = { client, journal, owner, permit, sameForMs, timing, unsettled, until }
    return placeOnce(request, placing, signal)
  })
}

/** Runs what deals with calls; what goes wrong is refused in words. */
export async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw unknown(error)
    if (error instanceof ExternalIdTaken) throw taken()
    if (error instanceof JournalError)
      throw new Refused('not_allowed', error.message, {
        next: 'Do what the message says, then place the call again.',
      })
    throw error
  }
}

async function permitFor(dialled: DialRequest, { session, request }: PlaceRun): Promise<Permit> {
  const { policy, follower, countsAtOnce } = session.dialling
  const verdict = await policy.reserve(dialled)
  if (!verdict.allowed) throw forbidden(verdict)
  const { id } = verdict
  return {
    cancel: () => policy.cancel(id),
    placed(callId) {
      if (!countsAtOnce) return
      const { owner, client } = session
      const account = request.params.account_id ?? 'me'
      void follower
        .untilEnd({ owner, account, callId }, client, () => policy.renew(id))
        .finally(() => policy.release(id))
    },
  }
}

function unknown({ externalId, failure }: OutcomeUnknown): Refused {
  const why =
    failure === undefined ? 'an identical request is, or was, under way' : failureWord(failure)
  return new Refused(
    'unknown_outcome',
    `it is NOT KNOWN whether the call was placed (${why}); external_id ${externalId}. The platform does not show it so far`,
    {
      next: `Look with list_calls, external_id ${externalId}. Do not place it under another external_id: somebody's telephone may be ringing. Calling place_call again with external_id ${externalId} and the same arguments is safe: it looks first, and dials only once it is certain that there is no call.`,
    },
  )
}

const failureWord = (failure: NonNullable<OutcomeUnknown['failure']>) =>
  failure.kind === 'rejected' || failure.kind === 'unreadable'
    ? `the platform answered HTTP ${failure.status}`
    : failure.kind === 'network'
      ? `the connection broke, ${failure.code}`
      : failure.kind === 'timeout'
        ? 'the platform did not answer in time'
        : failure.kind

const taken = () =>
  badArguments([
    {
      argument: 'external_id',
      message: 'stands for another call already; give each call its own, or leave it out',
    },
  ])

/** What is told of a call that was placed: at once, as a task, or when it has ended. */
async function followed(
  run: Run<typeof routes.calls.place, typeof options> & Bounded,
  placement: Placement,
): Promise<Outcome> {
  const outcome = shown(placement)
  if (!run.options.follow) return outcome
  const account = run.request.params.account_id ?? 'me'
  const { id: callId } = placement.call
  if (run.takesTasks) {
    const said = placement.isRepeat ? 'placed before, not dialled again' : 'ringing'
    return { ...outcome, task: taskOf({ id: callId }, account, said) }
  }
  const forMs = Math.min(followPlacedMs, run.until - Date.now())
  const { structured, text } = shownCall(await followCall({ account, callId }, run, forMs))
  return { ...outcome, structured: { ...outcome.structured, ...structured }, ...(text && { text }) }
}

function shown({ call, externalId, isRepeat }: Placement): Outcome {
  const structured = { ...call, external_id: externalId, repeated: isRepeat }
  const head = isRepeat
    ? 'This call had been placed before; it was NOT dialled again. For another call to the same number give an external_id of its own.'
    : 'Placed. wait_for_call follows it to its end.'
  return { structured, text: `${head}\n${compactText({ ...call, external_id: externalId })}` }
}
