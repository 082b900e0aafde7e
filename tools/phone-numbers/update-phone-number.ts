import * as z from 'zod'
import { routes } from '../../src/contract/routes.ts'
import { ApiError } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { unlessMissing } from '../../src/tool/account.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  eachOnce,
  forEach,
  manyIds,
  refuseIfNoneDone,
  type SelectedThing,
  type ThingsOnce,
  withMissingHint,
} from '../../src/tool/many.ts'
import { idsMeant } from '../../src/tool/references/names-to-ids.ts'
import { badArguments, Refused } from '../../src/tool/refused.ts'
import type { Run, ToolOutcome } from '../../src/tool/tool.ts'
import {
  bodyOf,
  changesBetweenNumbers,
  ignoredChanges,
  type LinkNames,
  type NumberLink,
  type NumberReport,
  numberUpdateSchema,
  plannedChanges,
  updatedNumber,
  updatedNumbers,
} from './updated-numbers.ts'

/** Arguments that say which numbers are meant: exactly one of them is given. */
const numberSelection = {
  phone_number_id: z.string().min(1).optional().describe('Id, name or the number itself.'),
  phone_number_ids: manyIds.describe('Instead: many of them.'),
}

/** Arguments of an update beside the fields to change. */
const updateNumberOptions = {
  ...numberSelection,
  dry_run: z.boolean().optional().describe('true: show the changes, save nothing.'),
}

type UpdateNumberRun = Run<typeof routes.phoneNumbers.update, typeof updateNumberOptions>

/** Updates one number, or makes the same change to many. */
export const updatePhoneNumber = defineTool({
  name: 'update_phone_number',
  title: 'Change phone numbers',
  description:
    'Changes a phone number, or many at once. inbound_agent_id sets who answers, sip_trunk_id moves it; clear removes that link.',
  route: routes.phoneNumbers.update,
  clears: ['inbound_agent_id', 'sip_trunk_id'],
  options: updateNumberOptions,
  schema: numberUpdateSchema,
  hasTimeLimit: true,
  reportsProgress: true,
  async run(run) {
    const selected = await selectedNumbers(run.options, run)
    const links = await linksForDryRun(run)
    if ('numberId' in selected)
      return updatedNumber(await updateOneNumber(selected.numberId, run, links))
    if (run.body.number !== undefined)
      throw badArguments([
        { argument: 'number', message: 'belongs to one number: give it with phone_number_id' },
      ])
    return updateMany(selected, run, links)
  },
})

/**
 * What was changed before a failure, the time limit or a cancellation stays changed, and the result
 * tells which; the same call again finds nothing to change there.
 */
async function updateMany(
  { things: numbers, repeated }: ThingsOnce,
  run: UpdateNumberRun,
  links: LinkNames,
): Promise<ToolOutcome> {
  const work = ({ id, problem = 'it is not known which number is meant' }: SelectedThing) => {
    if (id === undefined) throw new Refused('bad_arguments', problem)
    return updateOneNumber(id, run, links)
  }
  const found = await forEach(numbers, async (one) => work(one), run)
  const outcomes = await Promise.all(
    found.map(async (outcome, at) => {
      const { given = '', id } = numbers[at] ?? {}
      const named = { argument: 'phone_number_id', given } as const
      return { given, id, outcome: await withMissingHint(outcome, named, run) }
    }),
  )
  refuseIfNoneDone(outcomes, 'phone_number_ids')
  return updatedNumbers(outcomes, { repeated, isDryRun: run.options.dry_run === true })
}

/**
 * Reads a number, and sends only what differs. If no exposed tool reads numbers, the update is sent
 * without reading. Throws ApiError.
 */
async function updateOneNumber(
  id: string,
  run: UpdateNumberRun,
  links: LinkNames,
): Promise<NumberReport> {
  const { body, session, restricted, options, signal } = run
  const params = { ...run.request.params, phone_number_id: id }
  const stored = restricted.mayRead(routes.phoneNumbers.get)
    ? await session.client.call(routes.phoneNumbers.get, { params, query: {} }, signal)
    : undefined
  const unread = stored ? [] : [unreadWarning]
  const planned = plannedChanges(stored, body, links)
  if (planned.length === 0 || options.dry_run)
    return { number: stored ?? { id }, applied: false, changes: planned, warnings: unread }
  const sent = { params, query: {}, body: bodyOf(body, planned) }
  const updated = await session.client.call(routes.phoneNumbers.update, sent, signal)
  const ignored = ignoredChanges(planned, updated)
  const changes = changesBetweenNumbers(stored, updated, planned)
  const warnings = [...unread, ...ignored]
  return { number: updated, applied: changes.length > 0, changes, warnings }
}

const unreadWarning = 'what it was before is not known, because no exposed tool reads numbers'

/** The numbers that the arguments mean; one may be given as the number itself. Throws Refused and ApiError. */
async function selectedNumbers(
  { phone_number_ids: ids }: z.output<z.ZodObject<typeof numberSelection>>,
  {
    request: { params },
    restricted: session,
    signal,
  }: Pick<Run, 'request' | 'restricted' | 'signal'>,
): Promise<{ readonly numberId: string } | ThingsOnce> {
  const { phone_number_id: numberId } = params
  if ((ids === undefined) === (numberId === undefined))
    throw badArguments([
      {
        argument: 'phone_number_id',
        message: `${ids ? 'too much' : 'required'}: give exactly one of phone_number_id and phone_number_ids`,
      },
    ])
  if (numberId !== undefined) return { numberId }
  const given = ids ?? []
  const meant = await idsMeant('phone_number_id', given, { params, session, signal })
  return eachOnce(given.map((one, at) => ({ given: one, ...meant[at] })))
}

/**
 * The trunk and the agent that a dry run would set, read once for all numbers: the platform, which
 * would check them, is not asked to save anything. What may not be read keeps its id. Throws Refused
 * where one does not exist or is archived.
 */
async function linksForDryRun(run: UpdateNumberRun): Promise<LinkNames> {
  const { sip_trunk_id: trunkId, inbound_agent_id: agentId } = run.body
  if (!run.options.dry_run) return {}
  const [trunk, agent] = await Promise.all([
    trunkId ? readTrunk(trunkId, run) : undefined,
    agentId ? readAgent(agentId, run) : undefined,
  ])
  return { ...(trunk && { sip_trunk_id: trunk }), ...(agent && { inbound_agent_id: agent }) }
}

async function readTrunk(id: string, run: UpdateNumberRun): Promise<NumberLink> {
  const params = { account_id: accountIn(run.request), sip_trunk_id: id }
  const { client } = run.restricted
  const trunk = await readable(client.call(routes.sipTrunks.get, { params, query: {} }, run.signal))
  if (trunk === 'missing') throw wrongLink('sip_trunk_id', `there is no SIP trunk ${id}`)
  return linkOf(trunk)
}

async function readAgent(id: string, run: UpdateNumberRun): Promise<NumberLink> {
  const params = { account_id: accountIn(run.request), agent_id: id }
  const { client } = run.restricted
  const agent = await readable(client.call(routes.agents.get, { params, query: {} }, run.signal))
  if (agent === 'missing') throw wrongLink('inbound_agent_id', `there is no agent ${id}`)
  if (agent?.is_archived) throw wrongLink('inbound_agent_id', `the agent ${id} is archived`)
  return linkOf(agent)
}

const linkOf = (thing: { id: string; name?: string | null | undefined } | undefined): NumberLink =>
  thing ? { id: thing.id, ...(thing.name && { name: thing.name }) } : null

const wrongLink = (argument: string, message: string) => badArguments([{ argument, message }])

async function readable<T>(reading: Promise<T>): Promise<T | 'missing' | undefined> {
  try {
    return (await unlessMissing(reading)) ?? 'missing'
  } catch (error) {
    if (error instanceof ApiError && error.failure.kind === 'not_exposed') return undefined
    throw error
  }
}
