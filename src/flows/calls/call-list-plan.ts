import * as z from 'zod'
import { journalEntryOf } from '../../calls/place-once.ts'
import type { Agent } from '../../contract/agent.ts'
import type { CallCreate } from '../../contract/call.ts'
import { e164 } from '../../contract/field.ts'
import type { RouteRequest } from '../../contract/route.ts'
import type { routes } from '../../contract/routes.ts'
import type { confirmOption } from '../../mcp/call/confirmation.ts'
import type { Refused } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { type Journal, sameInListMs } from '../../state/journal.ts'
import { say } from '../../text/quoted.ts'
import { listQuestion } from './call-question.ts'
import { allowed } from './dial-policy-check.ts'
import { dialRequest, forbidden } from './place-call.ts'
import type { Placing } from './placing-run.ts'

/** Most calls of one list. */
const mostCalls = 100

/** One call of a list. */
const Callee = z.object({
  to_number: e164('Number to call.'),
  external_id: z.string().min(1).optional().describe('Your own id.'),
  test_variables: z.record(z.string(), z.unknown()).optional().describe('Of this call.'),
})
export type Callee = z.output<typeof Callee>

export const callees = z.array(Callee).min(1).max(mostCalls).describe('Whom to call, in order.')

type ListOption = { readonly calls: typeof callees } & typeof confirmOption
export type ListRun = Run<typeof routes.calls.place, ListOption> & Placing

/** What is to become of each call of a list, before any is placed. */
export interface CallPlan {
  /** The calls that were placed before, by their ids: none of them is dialled again. */
  readonly known: ReadonlyMap<Callee, KnownCall>
  /** Why some are not allowed. */
  readonly refused: ReadonlyMap<Callee, string>
  /** All others, in order: these, and no more, a person is asked about. */
  readonly open: readonly Callee[]
}

export interface KnownCall {
  readonly callId: string
  readonly externalId: string
  /** False: the platform said that it did not take the call. */
  readonly isTaken: boolean
}

export const bodyOf = ({ body }: ListRun, callee: Callee): CallCreate => ({
  ...body,
  type: 'phone',
  to_number: callee.to_number,
  ...(callee.external_id !== undefined && { external_id: callee.external_id }),
  ...(callee.test_variables && {
    test_variables: { ...body.test_variables, ...callee.test_variables },
  }),
})

const noted = async (run: ListRun, journal: Journal, callee: Callee) => {
  const request: RouteRequest = { ...run.request, body: bodyOf(run, callee) }
  return journalEntryOf(request, { journal, callOwner: run.callOwner, sameForMs: sameInListMs })
}

/**
 * What is known of a call that was placed before: told without asking the platform, so that a long
 * list that is given again comes to where it stopped.
 */
export async function knownCall(
  run: ListRun,
  journal: Journal,
  callee: Callee,
): Promise<KnownCall | undefined> {
  const entry = await noted(run, journal, callee)
  if (!entry || entry.callId === null) return undefined
  const { callId, externalId, state } = entry
  return { callId, externalId, isTaken: state !== 'not_taken' }
}

/** Which calls of a list were placed before. */
export async function knownCalls(run: ListRun, journal: Journal): Promise<CallPlan['known']> {
  const known = new Map<Callee, KnownCall>()
  for (const callee of run.options.calls) {
    const call = await knownCall(run, journal, callee)
    if (call) known.set(callee, call)
  }
  return known
}

/** What is to become of the others. What may have been sent already is not to be told as refused. */
export async function planOf(
  run: ListRun,
  agent: Agent,
  { journal, known }: { journal: Journal; known: CallPlan['known'] },
): Promise<CallPlan> {
  const rest = run.options.calls.filter((callee) => !known.has(callee))
  const refused = new Map<Callee, string>()
  for (const callee of rest) {
    if (await noted(run, journal, callee)) continue
    const verdict = await allowed(dialRequest(run, bodyOf(run, callee), agent), run)
    if (!verdict.allowed) refused.set(callee, wordsOf(forbidden(verdict, { isInList: true })))
  }
  return { known, refused, open: rest.filter((callee) => !refused.has(callee)) }
}

/** All that a refusal says, in one line. */
export function wordsOf({ advice: { what, fields, next } }: Refused): string {
  const which = fields.map(({ argument, message }) => `${argument}: ${message}`)
  return [what, ...which, next].filter(Boolean).join('. ')
}

/** Asks a person whether the open calls of a plan are to be placed. */
export async function askFor(plan: CallPlan, run: ListRun, agent: Agent): Promise<void> {
  const { known, refused, open } = plan
  const placed = [...known.values()].filter(({ isTaken }) => isTaken).length
  const notTaken = known.size - placed
  const listed = run.options.calls.flatMap((callee, at) =>
    open.includes(callee) ? [{ at, body: bodyOf(run, callee) }] : [],
  )
  const aside = {
    ...(placed > 0 && { 'Placed before': say`${placed} more, which are not dialled again` }),
    ...(notTaken > 0 && { 'Not taken before': say`${notTaken} more, which are not dialled again` }),
    ...(refused.size > 0 && { 'Not allowed': say`${refused.size} more, which are not dialled` }),
  }
  await run.confirm({
    ...(await listQuestion(run, { listed, agent, aside })),
    // Agreement to some calls of a list is none to the others, should those become possible.
    scope: listed.map(({ at }) => at),
  })
}
