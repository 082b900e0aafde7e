import * as z from 'zod'
import { PhoneNumber } from '../../src/contract/phone-number.ts'
import type { Route } from '../../src/contract/route.ts'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, unlessMissing } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import { quoted, quotedNameWithId } from '../../src/text/dialog-text.ts'
import { isObject } from '../../src/text/json.ts'
import { manyIds } from '../../src/tool/bulk.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  type FieldChange,
  type Fields,
  pathsBetween,
  sameFieldsOf,
} from '../../src/tool/field-changes.ts'
import { numberInWords } from '../../src/tool/in-use.ts'
import { findNumbers, numberFilters } from '../../src/tool/phone-number-filters.ts'
import { badArgument, type Refused } from '../../src/tool/refused.ts'
import { selectItems } from '../../src/tool/selection.ts'
import type { Run } from '../../src/tool/tool.ts'
import { driftedFields, earlierBody, type KeptChanges } from '../../src/tool/undo.ts'
import {
  type UpdateReport,
  updatedItemShape,
  updateHead,
  updateItems,
  updateOptions,
  updateResultShape,
} from '../../src/tool/update-items.ts'

/** Arguments besides the fields to change. Exactly one of the first three is given. */
const options = {
  phone_number_id: z.string().min(1).optional().describe('Id, name or the number itself.'),
  phone_number_ids: manyIds.describe('Instead: many, or * for all.'),
  where: z.object(numberFilters).optional().describe('Instead: all that match.'),
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: phone_number_ids and where also find numbers of all subaccounts.'),
  ...updateOptions,
}

type UpdateRun = Run<typeof routes.phoneNumbers.update, typeof options>

/** One number: its new state and the changes. Many: the result for each. */
const schema = PhoneNumber.extend({
  ...updateResultShape,
  numbers: z
    .array(
      z.object({
        phone_number_id: z.string().optional().describe('Phone number id.'),
        ...updatedItemShape,
      }),
    )
    .describe('Many numbers, in the order given.'),
}).partial()

/** Updates one number, or applies the same change to many. */
export const updatePhoneNumber = defineTool({
  name: 'update_phone_number',
  title: 'Change phone numbers',
  description:
    'Changes phone numbers. inbound_agent_id sets the agent that answers, sip_trunk_id the trunk.',
  route: routes.phoneNumbers.update,
  listing: { undescribed: ['where'], typesOnly: ['dry_run'] },
  clears: ['inbound_agent_id', 'sip_trunk_id'],
  options,
  changes: ['undo'],
  schema,
  hasTimeLimit: true,
  reportsProgress: true,
  async run(run) {
    const { phone_number_ids: ids, where, include_subaccounts: isTree, undo } = run.options
    if (undo !== undefined && !run.restricted.mayRead(routes.phoneNumbers.get))
      throw badArgument('undo', 'needs get_phone_number, which this server does not offer')
    let links: LinkNames = {}
    return updateItems<PhoneNumber, UpdateRun>(run, {
      ...{ kind: 'phone_number', noun: 'number', list: 'numbers' },
      async select() {
        const selected = await selectItems<PhoneNumber>(
          { ids, where, isTree },
          { argument: 'phone_number_id', find: (lists) => findNumbers(where ?? {}, lists) },
          run,
        )
        if (!('oneId' in selected) && run.body.number !== undefined)
          throw badArgument('number', 'belongs to one number: give it with phone_number_id')
        links = await linksForDryRun(run)
        return selected
      },
      update: (id, own, kept) => updateNumber(id, own, { links, kept }),
      one: (report) => ({
        fields: report.item,
        head: `${updateHead(report, `number ${numberInWords(report.item)}`)}.`,
      }),
      nameOf: numberInWords,
      labelOf: numberInWords,
      changeInWords,
    })
  },
})

/**
 * Reads a number, and sends only what differs. If no exposed tool reads numbers, the update is sent
 * without reading. Throws ApiError.
 */
async function updateNumber(
  id: string,
  run: UpdateRun,
  { links, kept }: { readonly links: LinkNames; readonly kept: KeptChanges },
): Promise<UpdateReport<PhoneNumber>> {
  const { session, restricted, options, signal } = run
  const params = { ...run.request.params, phone_number_id: id }
  const stored = restricted.mayRead(routes.phoneNumbers.get)
    ? await session.client.call(routes.phoneNumbers.get, { params, query: {} }, signal)
    : undefined
  const before = stored && argumentsOf(stored)
  const undone = kept.undone(id)
  const undo = before && undone && earlierBody(before, undone.paths, removable)
  // The values were those of a number.
  const body = undo ? (undo.body as NumberBody) : run.body
  const unread = stored ? [] : [unreadWarning]
  const notes = undo?.notes ?? []
  const planned = plannedChanges(stored, body, links)
  if (planned.length === 0 || options.dry_run)
    return {
      item: stored ?? { id },
      ...{ applied: false, changes: planned, warnings: [...unread, ...notes] },
      ...{ isIgnored: unread.length > 0, isUndo: undo !== undefined },
    }
  const sent = { params, query: {}, body: bodyOf(body, planned) }
  const updated = await kept.send(
    before && {
      ...{ request: sent, id, name: stored.friendly_name ?? stored.number },
      unread: allArguments.filter((name) => driftedFields(stored).includes(fieldsByArgument[name])),
      paths: pathsBetween(sameFieldsOf(before, sent.body), sent.body),
    },
    () => session.client.call(routes.phoneNumbers.update, sent, signal),
    (reply) => pathsBetween(before, argumentsOf(reply)),
  )
  const ignored = ignoredChanges(planned, updated)
  const changes = changesBetweenNumbers(stored, updated, planned)
  const warnings = [...unread, ...notes, ...ignored]
  const isIgnored = unread.length + ignored.length > 0
  return { item: updated, applied: changes.length > 0, changes, warnings, isIgnored }
}

const unreadWarning = 'what it was before is not known, because no exposed tool reads numbers'

/**
 * Trunk and agent of a dry run, read once for all numbers, because nothing is saved that the
 * platform would check. A trunk or agent that cannot be read is shown by its id. Throws Refused if
 * one does not exist or is archived.
 */
async function linksForDryRun(run: UpdateRun): Promise<LinkNames> {
  const { sip_trunk_id, inbound_agent_id: agent_id } = run.body
  if (!run.options.dry_run) return {}
  const account_id = accountIn(run.request)
  const read = <R extends Route>(route: R, ids: Record<string, string>) =>
    run.restricted.client.call(route, { params: { account_id, ...ids }, query: {} }, run.signal)
  const [trunk, agent] = await Promise.all([
    sip_trunk_id
      ? existing(read(routes.sipTrunks.get, { sip_trunk_id }), () =>
          badArgument('sip_trunk_id', `there is no SIP trunk ${sip_trunk_id}`),
        )
      : undefined,
    agent_id
      ? existing(read(routes.agents.get, { agent_id }), () =>
          badArgument('inbound_agent_id', `there is no agent ${agent_id}`),
        )
      : undefined,
  ])
  if (agent?.is_archived) throw badArgument('inbound_agent_id', `the agent ${agent_id} is archived`)
  return {
    ...(trunk && { sip_trunk_id: linkOf(trunk) }),
    ...(agent && { inbound_agent_id: linkOf(agent) }),
  }
}

/**
 * `undefined` if no exposed tool may read it. Throws `missing()` if it does not exist, and
 * ApiError.
 */
async function existing<T>(promise: Promise<T>, missing: () => Refused): Promise<T | undefined> {
  try {
    const found = await unlessMissing(promise)
    if (found === undefined) throw missing()
    return found
  } catch (error) {
    if (error instanceof ApiError && error.failure.kind === 'not_exposed') return undefined
    throw error
  }
}

/** The fields of an update. */
type NumberBody = UpdateRun['body']

/** Link of a number: a trunk or an agent; `null`: none. */
type NumberLink = { readonly id: string; readonly name?: string } | null

/** Reply fields by the argument that changes them. */
const fieldsByArgument = {
  number: 'number',
  name: 'friendly_name',
  sip_trunk_id: 'sip_trunk',
  inbound_agent_id: 'inbound_agent',
} as const
type Argument = keyof typeof fieldsByArgument
const allArguments = Object.keys(fieldsByArgument) as Argument[]

type Value = string | NumberLink

/** A part of the number before and after, by its name in replies. */
interface NumberChange extends FieldChange {
  readonly field: (typeof fieldsByArgument)[Argument]
  /** `undefined`: it could not be read. */
  readonly before: Value | undefined
  readonly after: Value
}

/** Trunk and agent of the arguments, if they were read. */
interface LinkNames {
  readonly sip_trunk_id?: NumberLink
  readonly inbound_agent_id?: NumberLink
}

/** Planned changes; for an unread number, all given fields. */
const plannedChanges = (
  stored: PhoneNumber | undefined,
  body: NumberBody,
  links: LinkNames,
): NumberChange[] =>
  allArguments.flatMap((argument) => {
    const wanted = body[argument]
    if (wanted === undefined) return []
    const after = wantedValue(argument, wanted, links)
    return stored
      ? changeOf(argument, stored, after)
      : [{ field: fieldsByArgument[argument], before: undefined, after }]
  })

function wantedValue(argument: Argument, wanted: string | null, links: LinkNames): Value {
  if (argument === 'number' || argument === 'name' || wanted === null) return wanted
  return links[argument] ?? { id: wanted }
}

/** Changes of an update; for a number unread before it, the sent and accepted fields. */
const changesBetweenNumbers = (
  before: PhoneNumber | undefined,
  after: PhoneNumber,
  planned: readonly NumberChange[],
): NumberChange[] =>
  allArguments.flatMap((argument) => {
    const value = storedValue(argument, after)
    if (before) return changeOf(argument, before, value)
    const isTaken = planned.some(
      (one) => one.field === fieldsByArgument[argument] && isSame(one.after, value),
    )
    return isTaken ? [{ field: fieldsByArgument[argument], before: undefined, after: value }] : []
  })

function changeOf(argument: Argument, stored: PhoneNumber, after: Value): NumberChange[] {
  const before = storedValue(argument, stored)
  return isSame(before, after) ? [] : [{ field: fieldsByArgument[argument], before, after }]
}

const linkOf = ({ id, name }: { id: string; name?: string | null | undefined }): NumberLink => ({
  id,
  ...(name && { name }),
})

function storedValue(argument: Argument, number: PhoneNumber): Value {
  const value = number[fieldsByArgument[argument]]
  if (!value || typeof value === 'string') return value ?? null
  return linkOf(value)
}

/** A number as an update takes it: links by id. */
const argumentsOf = (number: PhoneNumber): Fields =>
  Object.fromEntries(
    allArguments.map((argument) => {
      const value = storedValue(argument, number)
      return [argument, typeof value === 'string' ? value : (value?.id ?? null)]
    }),
  )

/** Fields that null removes. Null changes nothing in the others. */
const removable: readonly Argument[] = ['sip_trunk_id', 'inbound_agent_id']

const isSame = (one: Value, other: Value) => comparable(one) === comparable(other)

const comparable = (value: Value) =>
  typeof value === 'string' ? value : value && canonicalId(value.id)

/** The body of the changed fields alone. */
const bodyOf = (body: NumberBody, changes: readonly NumberChange[]): NumberBody =>
  Object.fromEntries(
    Object.entries(body).filter(([argument]) =>
      changes.some(({ field }) => field === fieldsByArgument[argument as Argument]),
    ),
  )

/** Sent changes that the platform ignored. */
const ignoredChanges = (planned: readonly NumberChange[], updated: PhoneNumber): string[] =>
  planned.flatMap(({ field, after }) => {
    const argument = allArguments.find((one) => fieldsByArgument[one] === field) ?? 'number'
    const stored = storedValue(argument, updated)
    return isSame(stored, after)
      ? []
      : [`${field}: the platform has ${inWords(stored)}, not ${inWords(after)}`]
  })

/** `inbound_agent: none → "Front desk"`. Shows ids if the names are equal. */
function changeInWords({ field, before, after }: FieldChange): string {
  const texts = [inWords(before), inWords(after)]
  const [from, to] = texts[0] === texts[1] ? [withId(before), withId(after)] : texts
  return `${field}: ${from} → ${to}`
}

/** `undefined`: it could not be read. */
function inWords(value: unknown): string {
  if (value === undefined) return 'unknown'
  if (value === null) return 'none'
  return quoted(isLink(value) ? (value.name ?? value.id) : String(value))
}

const withId = (value: unknown): string =>
  isLink(value) ? quotedNameWithId(value.name, value.id) : inWords(value)

const isLink = (value: unknown): value is NonNullable<NumberLink> =>
  isObject(value) && typeof value.id === 'string'
