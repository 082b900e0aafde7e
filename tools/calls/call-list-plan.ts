import * as z from 'zod'
import { journalEntryOf } from '../../src/calls/place-once.ts'
import type { Agent } from '../../src/contract/agent.ts'
import type { CallCreate } from '../../src/contract/call.ts'
import { e164 } from '../../src/contract/field.ts'
import type { RouteRequest } from '../../src/contract/route.ts'
import type { routes } from '../../src/contract/routes.ts'
import { type Journal, type JournalEntry, sameInListMs } from '../../src/state/journal.ts'
import { dialogText } from '../../src/text/dialog-text.ts'
import type { confirmOption } from '../../src/tool/confirmation.ts'
import type { Run } from '../../src/tool/tool.ts'
import { listQuestion, shownGreeting } from './call-question.ts'
import { policyRefusal, refusalText } from './call-refusals.ts'
import { checkDialPolicy, dialRequestOf, type PlacingRun } from './placing.ts'

/** Most calls of one list. */
const maxCalls = 100

/** One person to call. */
const ListedCallee = z.object({
  to_number: e164('Number to call.'),
  external_id: z.string().min(1).optional().describe('Your own id; a new one calls again.'),
  test_variables: z.record(z.string(), z.unknown()).optional().describe('Of this call.'),
})
export type ListedCallee = z.output<typeof ListedCallee>

export const callees = z
  .array(ListedCallee)
  .min(1)
  .max(maxCalls)
  .describe('Whom to call, in order.')

type ListOption = {
  readonly calls: typeof callees
  readonly follow: z.ZodOptional<z.ZodBoolean>
} & typeof confirmOption
export type CallListRun = Run<typeof routes.calls.place, ListOption> &
  PlacingRun & { readonly journal: Journal }

/** What is decided about each call of a list before any is placed. */
export interface CallListPlan {
  /** Calls that an earlier request may have sent: their outcome is unknown. */
  readonly maybeSent: ReadonlySet<ListedCallee>
  /** Calls that were placed before. None of them is dialled again. */
  readonly known: ReadonlyMap<ListedCallee, KnownCall>
  /** Calls that the dial policy refuses, with the reason. */
  readonly refused: ReadonlyMap<ListedCallee, string>
  /** All others, in order. The person is asked about these and no more. */
  readonly open: readonly ListedCallee[]
}

export interface KnownCall {
  readonly callId: string
  readonly externalId: string
  /** False: the platform has a record of the call, and did not accept it. */
  readonly isAccepted: boolean
}

/** The body of the request that places one call of the list. */
export const bodyFor = (callee: ListedCallee, { body }: CallListRun): CallCreate => ({
  ...body,
  type: 'phone',
  to_number: callee.to_number,
  ...(callee.external_id !== undefined && { external_id: callee.external_id }),
  ...(callee.test_variables && {
    test_variables: { ...body.test_variables, ...callee.test_variables },
  }),
})

export function journalEntryFor(
  callee: ListedCallee,
  run: CallListRun,
): Promise<JournalEntry | undefined> {
  const { journal, callOwner } = run
  const request: RouteRequest = { ...run.request, body: bodyFor(callee, run) }
  return journalEntryOf({ request, journal, callOwner, sameForMs: sameInListMs })
}

/**
 * The call of an entry, if it was placed before. The platform is not asked, so that a long list that is
 * given again gets to the place where it stopped.
 */
export function knownCall(entry: JournalEntry | undefined): KnownCall | undefined {
  if (!entry || entry.callId === null) return undefined
  const { callId, externalId, state } = entry
  return { callId, externalId, isAccepted: state !== 'not_taken' }
}

/** All calls of the list that were placed before. */
export async function findKnownCalls(run: CallListRun): Promise<CallListPlan['known']> {
  const known = new Map<ListedCallee, KnownCall>()
  for (const callee of run.options.calls) {
    const call = knownCall(await journalEntryFor(callee, run))
    if (call) known.set(callee, call)
  }
  return known
}

/** Plans the other calls. One that may have been sent already is not reported as refused. */
export async function planCallList(
  run: CallListRun,
  agent: Agent,
  known: CallListPlan['known'],
): Promise<CallListPlan> {
  const others = run.options.calls.filter((callee) => !known.has(callee))
  const refused = new Map<ListedCallee, string>()
  const maybeSent = new Set<ListedCallee>()
  for (const callee of others) {
    const entry = await journalEntryFor(callee, run)
    if (entry?.state === 'sending') maybeSent.add(callee)
    if (entry) continue
    const decision = await checkDialPolicy(dialRequestOf(run, bodyFor(callee, run), agent), run)
    if (!decision.allowed)
      refused.set(callee, refusalText(policyRefusal(decision, { isInList: true })))
  }
  return { known, refused, maybeSent, open: others.filter((callee) => !refused.has(callee)) }
}

/** Asks the person whether the open calls of the plan may be placed. */
export async function confirmPlan(
  plan: CallListPlan,
  run: CallListRun,
  agent: Agent,
): Promise<void> {
  const { known, refused, open } = plan
  const placed = [...known.values()].filter(({ isAccepted }) => isAccepted).length
  const notAccepted = known.size - placed
  const listed = run.options.calls.flatMap((callee, at) =>
    open.includes(callee) ? [{ at, body: bodyFor(callee, run) }] : [],
  )
  const otherCalls = {
    ...(placed > 0 && { 'Placed before': dialogText`${placed} more, which are not dialled again` }),
    ...(notAccepted > 0 && {
      'Not accepted before': dialogText`${notAccepted} more, which are not dialled again`,
    }),
    ...(refused.size > 0 && {
      'Not allowed': dialogText`${refused.size} more, which are not dialled`,
    }),
  }
  await run.confirm(async () => ({
    ...(await listQuestion(run, { listed, agent, otherCalls })),
    // Agreement to these calls is none to the others, should the policy allow those later.
    scope: { calls: listed.map(({ at }) => at), ...shownGreeting(agent) },
  }))
}
