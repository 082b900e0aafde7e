import * as z from 'zod'
import { PhoneNumber } from '../../src/contract/phone-number.ts'
import type { ReplyOf, Route } from '../../src/contract/route.ts'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, unlessMissing } from '../../src/platform/failure.ts'
import { driftedFields } from '../../src/platform/reply-drift.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import { quoted, quotedNameWithId } from '../../src/text/dialog-text.ts'
import { isObject } from '../../src/text/json.ts'
import { manyIds } from '../../src/tool/bulk.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  earlierBody,
  type FieldChange,
  type Fields,
  fieldsNamedIn,
  pathsBetween,
} from '../../src/tool/field-changes.ts'
import { numberInWords } from '../../src/tool/in-use.ts'
import { selectItems } from '../../src/tool/item-selection.ts'
import { findNumbers, numberFilters } from '../../src/tool/phone-number-filters.ts'
import { badArgument } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'
import {
  type ItemRecording,
  type UpdateReport,
  updatedItemShape,
  updateHead,
  updateItems,
  updateOptions,
  updateResultShape,
} from '../../src/tool/update-items.ts'

/** Arguments besides the fields to change. Exactly one of the first three must be given. */
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

/**
 * Result of an update: for one number, its new state and the changes; for several, one result each.
 */
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

/** Updates one phone number, or applies the same change to many. */
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
    let links: Values = {}
    return updateItems<PhoneNumber, UpdateRun>(run, {
      ...{ kind: 'phone_number', noun: 'number', list: 'numbers' },
      async select() {
        const selected = await selectItems<PhoneNumber>(
          { ids, where, isTree },
          { argument: 'phone_number_id', find: (lists) => findNumbers(where ?? {}, lists) },
          run,
        )
        if (!('oneId' in selected) && run.request.body.number !== undefined)
          throw badArgument('number', 'belongs to one number: give it with phone_number_id')
        links = await linksForDryRun(run)
        return selected
      },
      update: (id, own, recording) => updateNumber(id, own, { links, ...recording }),
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
 * Reads a phone number and sends only the fields that differ. If no exposed tool reads numbers,
 * sends the fields as given. Throws ApiError.
 */
async function updateNumber(
  id: string,
  run: UpdateRun,
  { links, recorder, undonePaths }: { readonly links: Values } & ItemRecording,
): Promise<UpdateReport<PhoneNumber>> {
  const { session, restricted, options, signal } = run
  const params = { ...run.request.params, phone_number_id: id }
  const stored = restricted.mayRead(routes.phoneNumbers.get)
    ? await session.client.call(routes.phoneNumbers.get, { params, query: {} }, signal)
    : undefined
  const before = stored && valuesOf(stored)
  const undo = before && undonePaths && earlierBody(plain(before), undonePaths, removable)
  // The earlier values were read from a phone number, so they fit this body.
  const given = undo ? (undo.body as NumberBody) : run.request.body
  const planned = changesTo(before, wantedValues(given, links))
  const unread = stored ? [] : [unreadWarning]
  const notes = undo?.notes ?? []
  if (planned.length === 0 || options.dry_run)
    return {
      item: stored ?? { id },
      ...{ applied: false, changes: planned.map(shown), warnings: [...unread, ...notes] },
      ...{ isIgnored: unread.length > 0, isUndo: undo !== undefined },
    }
  const body: NumberBody = Object.fromEntries(planned.map(({ name }) => [name, given[name]]))
  const sent = { params, query: {}, body }
  const updated = await recorder.send(
    before && {
      ...{ request: sent, id, name: stored.friendly_name ?? stored.number },
      unread: argumentNames.filter((name) => driftedFields(stored).includes(fieldOf[name])),
      paths: pathsBetween(fieldsNamedIn(body, plain(before)), body),
    },
    () => session.client.call(routes.phoneNumbers.update, sent, signal),
    (reply) => pathsBetween(before && plain(before), plain(valuesOf(reply))),
  )
  const saved = valuesOf(updated)
  const ignored = planned.filter(({ name, after }) => !isSame(saved[name], after))
  const taken = planned.filter((change) => !ignored.includes(change))
  const changes = before
    ? changesTo(before, saved)
    : taken.map(({ name }) => ({ name, before: undefined, after: saved[name] }))
  const refused = ignored.map(
    ({ name, after }) =>
      `${fieldOf[name]}: the platform has ${inWords(saved[name])}, not ${inWords(after)}`,
  )
  return {
    ...{ item: updated, applied: changes.length > 0, changes: changes.map(shown) },
    ...{ warnings: [...unread, ...notes, ...refused] },
    isIgnored: unread.length + ignored.length > 0,
  }
}

const unreadWarning = 'what it was before is not known, because no exposed tool reads numbers'

/**
 * Reads the trunk and the agent for a dry run, once for all numbers, because the platform checks
 * them only when it saves. Throws Refused if one of them does not exist, or if the agent is
 * archived.
 */
async function linksForDryRun(run: UpdateRun): Promise<Values> {
  if (!run.options.dry_run) return {}
  const [trunk, agent] = await Promise.all([
    linked('sip_trunk_id', routes.sipTrunks.get, 'SIP trunk', run),
    linked('inbound_agent_id', routes.agents.get, 'agent', run),
  ])
  if (agent?.is_archived)
    throw badArgument(
      'inbound_agent_id',
      `the agent ${run.request.body.inbound_agent_id} is archived`,
    )
  return {
    ...(trunk && { sip_trunk_id: linkOf(trunk) }),
    ...(agent && { inbound_agent_id: linkOf(agent) }),
  }
}

/**
 * Reads the linked trunk or agent; `undefined`: not given, or no exposed tool may read it. Throws
 * Refused and ApiError.
 */
async function linked<R extends Route>(
  argument: 'sip_trunk_id' | 'inbound_agent_id',
  route: R,
  noun: string,
  { request, restricted, signal }: UpdateRun,
): Promise<ReplyOf<R> | undefined> {
  const id = request.body[argument]
  if (!id) return undefined
  const params = { account_id: accountIn(request), [argument.replace('inbound_', '')]: id }
  try {
    const found = await unlessMissing(restricted.client.call(route, { params, query: {} }, signal))
    if (found !== undefined) return found
  } catch (error) {
    if (error instanceof ApiError && error.failure.kind === 'not_exposed') return undefined
    throw error
  }
  throw badArgument(argument, `there is no ${noun} ${id}`)
}

type NumberBody = UpdateRun['request']['body']

/** Reply fields, by the argument that changes them. */
const fieldOf = {
  number: 'number',
  name: 'friendly_name',
  sip_trunk_id: 'sip_trunk',
  inbound_agent_id: 'inbound_agent',
} as const
type Argument = keyof typeof fieldOf
const argumentNames = Object.keys(fieldOf) as Argument[]

/** Fields that null removes. In all other fields null changes nothing. */
const removable: readonly Argument[] = ['sip_trunk_id', 'inbound_agent_id']

/** A phone number's trunk, or the agent that answers it. */
interface Link {
  readonly id: string
  readonly name?: string
}

/** `null`: no value, such as no trunk. */
type Value = string | Link | null

/** Values of a phone number, by the argument that changes them. */
type Values = Readonly<Partial<Record<Argument, Value>>>

const valuesOf = (number: PhoneNumber): Values =>
  Object.fromEntries(
    argumentNames.map((name) => {
      const value = number[fieldOf[name]] ?? null
      return [name, isObject(value) ? linkOf(value) : value]
    }),
  )

const linkOf = ({ id, name }: { id: string; name?: string | null | undefined }): Link => ({
  id,
  ...(name && { name }),
})

/** The given values. A link that was not read has only its id. */
const wantedValues = (body: NumberBody, links: Values): Values =>
  Object.fromEntries(
    argumentNames.flatMap((name) => {
      const value = body[name]
      if (value === undefined) return []
      const isLink = removable.includes(name) && value !== null
      return [[name, isLink ? (links[name] ?? { id: value }) : value]]
    }),
  )

/** The values in the form of a request body: links as ids. */
const plain = (values: Values): Fields =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isLink(value) ? value.id : value]),
  )

interface ValueChange {
  readonly name: Argument
  /** `undefined`: the number could not be read. */
  readonly before: Value | undefined
  readonly after: Value | undefined
}

/** The values that differ. If the number could not be read, all given values. */
const changesTo = (before: Values | undefined, after: Values): ValueChange[] =>
  argumentNames.flatMap((name) =>
    after[name] === undefined || (before && isSame(before[name], after[name]))
      ? []
      : { name, before: before?.[name], after: after[name] },
  )

const isSame = (one: Value | undefined, other: Value | undefined) =>
  comparable(one) === comparable(other)

const comparable = (value: Value | undefined) =>
  isLink(value) ? canonicalId(value.id) : (value ?? null)

/** The change, under the field name in replies. */
const shown = ({ name, before, after }: ValueChange): FieldChange => ({
  ...{ field: fieldOf[name], before, after },
})

/** A change as text: `inbound_agent: none → "Front desk"`. Adds ids if both names are equal. */
function changeInWords({ field, before, after }: FieldChange): string {
  const texts = [inWords(before), inWords(after)]
  const [from, to] = texts[0] === texts[1] ? [withId(before), withId(after)] : texts
  return `${field}: ${from} → ${to}`
}

/** A value as text; `undefined`: the number could not be read. */
function inWords(value: unknown): string {
  if (value === undefined) return 'unknown'
  if (value === null) return 'none'
  return quoted(isLink(value) ? (value.name ?? value.id) : String(value))
}

const withId = (value: unknown): string =>
  isLink(value) ? quotedNameWithId(value.name, value.id) : inWords(value)

const isLink = (value: unknown): value is Link => isObject(value) && typeof value.id === 'string'
