import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { ApiError } from '../api/failure.ts'
import { canonical } from '../calls/canonical.ts'
import type { Journal } from '../calls/journal.ts'
import { notedBefore } from '../calls/place.ts'
import type { Agent } from '../contract/agent.ts'
import type { CallCreate } from '../contract/call.ts'
import { e164 } from '../contract/field.ts'
import type { RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { confirmationShape, confirmOption } from '../mcp/confirmation.ts'
import { badArguments, Refused } from '../mcp/refused.ts'
import { named } from '../mcp/similar.ts'
import type { Outcome, Run, Steps } from '../mcp/tool.ts'
import { compactText } from '../views/compact.ts'
import { accountFact, onOneName } from './facts.ts'
import { dialRequest, forbidden, inWords, place, speaker } from './place-call.ts'

/** Most calls of one batch, and the time between two of them, ms. */
const mostCalls = 100
const paceMs = 300

/** How long one request goes on dialling, ms: clients commonly give up after 60 s. */
const dialForMs = 45_000

const Callee = z.object({
  to_number: e164('Number to call.'),
  external_id: z.string().min(1).optional().describe('Your own id.'),
  test_variables: z.record(z.string(), z.unknown()).optional().describe('Of this call.'),
})
type Callee = z.output<typeof Callee>

const options = {
  calls: z.array(Callee).min(1).max(mostCalls).describe('Whom to call, in order.'),
  ...confirmOption,
}

/** Arguments of a single call that a batch does not have. */
const without = Object.keys(routes.calls.place.body.shape).filter(
  (name) => !['agent_id', 'from_number', 'test_variables', 'overrides'].includes(name),
)

const outcomes = ['placed', 'repeated', 'not_allowed', 'failed', 'unknown', 'not_dialled'] as const

const Item = z.object({
  to_number: z.string().describe('Callee.'),
  outcome: z
    .enum(outcomes)
    .describe(
      'placed now; repeated: placed before, not dialled again; unknown: may be ringing; not_dialled: never tried.',
    ),
  call_id: z.string().optional().describe('Call id.'),
  external_id: z.string().optional().describe('Its correlation id.'),
  problem: z.string().optional().describe('Why it was not placed, and what to do.'),
})
type Item = z.output<typeof Item>

type BatchRun = Run<typeof routes.calls.place, typeof options>

/** Places many calls one after the other, each exactly once and by its own leave. */
export const confirmedCalls: Steps<typeof routes.calls.place, typeof options> = {
  options,
  without,
  reports: true,
  schema: z.object({
    summary: z.record(z.string(), z.int()).optional().describe('How many came to what.'),
    calls: z.array(Item).optional().describe('In the order given.'),
    ...confirmationShape,
  }),
  async run(onAnyName) {
    const { body, options: given } = onAnyName
    if (body.from_number === undefined) {
      throw badArguments([{ argument: 'from_number', message: 'required: a number of your own' }])
    }
    refuseDoubleIds(given.calls)
    const run = await onOneName(onAnyName)
    const journal = await inWords(() => run.session.dialling.journal())
    const open = given.calls.filter((callee) => !known(run, journal, callee))
    if (open.length === 0)
      return shown(given.calls.flatMap((callee) => known(run, journal, callee) ?? []))
    const agent = await speaker(run as Parameters<typeof speaker>[0])
    const refused = await refusedOnes(run, agent, { journal, open })
    if (refused.size < open.length) await ask(run, agent, { open, refused })
    return shown(await dial(run, agent, { journal, refused }))
  },
}

function refuseDoubleIds(calls: readonly Callee[]): void {
  const seen = new Set<string>()
  const doubles = calls.flatMap(({ external_id: id }, at) => {
    if (id === undefined || !seen.has(id)) {
      if (id !== undefined) seen.add(id)
      return []
    }
    return [{ argument: `calls.${at}.external_id`, message: `${id} is given twice` }]
  })
  if (doubles.length > 0) throw badArguments(doubles)
}

const bodyOf = ({ body }: BatchRun, callee: Callee): CallCreate => ({
  ...body,
  type: 'phone',
  to_number: callee.to_number,
  ...(callee.external_id !== undefined && { external_id: callee.external_id }),
  ...(callee.test_variables && {
    test_variables: { ...body.test_variables, ...callee.test_variables },
  }),
})

const requestOf = (run: BatchRun, callee: Callee): RouteRequest => ({
  ...run.request,
  body: bodyOf(run, callee),
})

/**
 * What is known of a call that was placed before: told without asking the platform, so that a long
 * list that is given again soon comes to where it stopped.
 */
function known(run: BatchRun, journal: Journal, callee: Callee): Item | undefined {
  const { client, owner } = run.session
  const entry = notedBefore(requestOf(run, callee), { client, journal, owner })
  if (entry?.state !== 'placed' || entry.callId === null) return undefined
  const { externalId: external_id, callId: call_id } = entry
  return { to_number: callee.to_number, outcome: 'repeated', call_id, external_id }
}

/** Why some are not allowed. What may have been sent already is not to be told as refused. */
async function refusedOnes(
  run: BatchRun,
  agent: Agent,
  { journal, open }: { journal: Journal; open: readonly Callee[] },
): Promise<ReadonlyMap<Callee, string>> {
  const { dialling, client, owner } = run.session
  const refused = new Map<Callee, string>()
  for (const callee of open) {
    if (notedBefore(requestOf(run, callee), { client, journal, owner })) continue
    const verdict = await dialling.policy.check(dialRequest(run, bodyOf(run, callee), agent))
    if (!verdict.allowed) refused.set(callee, wordsOf(forbidden(verdict)))
  }
  return refused
}

function wordsOf({ advice: { what, fields, next } }: Refused): string {
  const which = fields.map(({ argument, message }) => `${argument}: ${message}`)
  return [what, ...which, next].filter(Boolean).join('. ')
}

/** Numbers shown in the question; the rest is counted. */
const mostShown = 20

interface Planned {
  readonly open: readonly Callee[]
  readonly refused: ReadonlyMap<Callee, string>
}

async function ask(run: BatchRun, agent: Agent, { open, refused }: Planned): Promise<void> {
  const asked = open.filter((callee) => !refused.has(callee))
  // The same twice in a list is one call.
  const calls = new Map(asked.map((callee) => [canonical(bodyOf(run, callee)), callee.to_number]))
  const numbers = [...calls.values()]
  const more = numbers.length - mostShown
  const before = run.options.calls.length - open.length
  await run.confirm({
    kind: 'calls',
    question: `Place ${numbers.length} ${numbers.length === 1 ? 'call' : 'calls'}?`,
    facts: {
      'Who is called': `${numbers.slice(0, mostShown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
      ...(before > 0 && { 'Placed before': `${before} more, which are not dialled again` }),
      ...(refused.size > 0 && { 'Not allowed': `${refused.size} more, which are not dialled` }),
      Agent: named(agent.name, agent.id),
      'From number': run.body.from_number ?? '',
      Account: await accountFact(run),
      ...(run.session.isSandbox && { Note: 'SANDBOX: simulated, nobody is rung' }),
    },
  })
}

async function dial(
  run: BatchRun,
  agent: Agent,
  { journal, refused }: { journal: Journal; refused: ReadonlyMap<Callee, string> },
): Promise<Item[]> {
  const { calls } = run.options
  const end = Date.now() + dialForMs
  const items: Item[] = []
  for (const callee of calls) {
    const { to_number } = callee
    const problem = refused.get(callee)
    const item = known(run, journal, callee)
    if (item) items.push(item)
    else if (problem !== undefined) items.push({ to_number, outcome: 'not_allowed', problem })
    else if (run.signal?.aborted) items.push(notDialled(to_number, 'the request was cancelled'))
    else if (Date.now() > end) items.push(notDialled(to_number, goOn))
    else {
      const dialled = await one(run, agent, callee)
      items.push(dialled)
      if (dialled.outcome === 'not_allowed' || items.length === calls.length) continue
      const placed = items.filter((item) => item.outcome === 'placed').length
      run.progress(items.length, `${placed} placed, ${items.length} of ${calls.length} done`)
      await sleep(paceMs, undefined, run.signal && { signal: run.signal }).catch(() => undefined)
    }
  }
  return items
}

const goOn = 'time was up: call again with the same list; what was placed is not dialled again'

const notDialled = (to_number: string, problem: string): Item => ({
  to_number,
  outcome: 'not_dialled',
  problem,
})

async function one(run: BatchRun, agent: Agent, callee: Callee): Promise<Item> {
  const { to_number } = callee
  const body = bodyOf(run, callee)
  const single = { ...run, body, request: { ...run.request, body } } as Parameters<typeof place>[0]
  try {
    const { call, externalId, isRepeat } = await place(single, dialRequest(run, body, agent))
    const outcome = isRepeat ? 'repeated' : 'placed'
    return { to_number, outcome, call_id: call.id, external_id: externalId }
  } catch (error) {
    if (error instanceof Refused) return refusedItem(to_number, error)
    if (error instanceof ApiError)
      return { to_number, outcome: 'failed', problem: failureOf(error, run) }
    throw error
  }
}

function refusedItem(to_number: string, error: Refused): Item {
  const problem = wordsOf(error)
  if (error.kind === 'unknown_outcome') return { to_number, outcome: 'unknown', problem }
  return { to_number, outcome: error.kind === 'not_allowed' ? 'not_allowed' : 'failed', problem }
}

function failureOf({ failure }: ApiError, { session }: BatchRun): string {
  if (failure.kind !== 'rejected') return `${failure.kind}; nothing was dialled`
  const fields = failure.errors.map(({ field, message }) => `${field}: ${message}`)
  return session.redact([failure.message, ...fields].join(' '))
}

function shown(calls: readonly Item[]): Outcome {
  const counted = outcomes.map((outcome) => [
    outcome,
    calls.filter((item) => item.outcome === outcome).length,
  ])
  const summary = Object.fromEntries(counted.filter(([, count]) => count !== 0))
  const head = Object.entries(summary).map(([outcome, count]) => `${count} ${outcome}`)
  return {
    structured: { summary, calls: [...calls] },
    text: [
      `${calls.length} calls: ${head.join(', ')}.`,
      ...calls.map((item) => compactText(item)),
    ].join('\n'),
  }
}
