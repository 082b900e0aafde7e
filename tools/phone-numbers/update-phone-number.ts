import * as z from 'zod'
import { PhoneNumber } from '../../src/contract/phone-number.ts'
import type { Route } from '../../src/contract/route.ts'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, unlessMissing } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import { quoted, quotedNameWithId } from '../../src/text/dialog-text.ts'
import {
  forEachSelected,
  manyIds,
  type NamedOutcome,
  refuseIfNoneDone,
  runIn,
} from '../../src/tool/bulk.ts'
import {
  countsOf,
  grouped,
  namesOf,
  outcomeShape,
  type UpdateReport,
  updateHead,
  updateLines,
  updateOutcome,
  updateOutcomeShape,
  updateOutcomes,
  updateWarnings,
} from '../../src/tool/bulk-result.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  type FieldChange,
  type Fields,
  fieldChanges,
  pathsBetween,
  sameFieldsOf,
} from '../../src/tool/field-changes.ts'
import { numberInWords } from '../../src/tool/in-use.ts'
import { accountOnce } from '../../src/tool/lists/list-fields.ts'
import { severalAccountsShape } from '../../src/tool/lists/several-accounts.ts'
import { findNumbers, numberFilters } from '../../src/tool/phone-number-filters.ts'
import { badArguments, type Refused } from '../../src/tool/refused.ts'
import { type ItemSelection, selectItems, selectionResult } from '../../src/tool/selection.ts'
import type { OutputWithLines, Run, ToolOutcome } from '../../src/tool/tool.ts'
import {
  driftedFields,
  earlierBody,
  KeptChanges,
  type KeptObject,
  selectedObjects,
  undoOption,
  undoShape,
} from '../../src/tool/undo.ts'

/** Arguments besides the fields to change. Exactly one of the first three is given. */
const options = {
  phone_number_id: z.string().min(1).optional().describe('Id, name or the number itself.'),
  phone_number_ids: manyIds.describe('Instead: many, or * for all.'),
  where: z.object(numberFilters).optional().describe('Instead: all that match.'),
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: phone_number_ids and where also find numbers of all subaccounts.'),
  dry_run: z.boolean().optional().describe('true: show the changes, save nothing.'),
  ...undoOption,
}

type UpdateRun = Run<typeof routes.phoneNumbers.update, typeof options>

/** The result for one of many numbers. */
const UpdatedNumber = z.object({
  phone_number_id: z.string().optional().describe('Phone number id.'),
  name: z.string().optional().describe('The number with its name, or how it was given.'),
  account: severalAccountsShape.item.account.optional(),
  ...outcomeShape.item,
  ...updateOutcomeShape,
})
type UpdatedNumber = z.output<typeof UpdatedNumber>

/** One number: its new state and the changes. Many: the result for each. */
const schema = PhoneNumber.extend({
  applied: z.boolean().describe('False: nothing was saved.'),
  changes: fieldChanges,
  warnings: updateWarnings,
  ...outcomeShape.result,
  ...severalAccountsShape.result,
  ...undoShape,
  numbers: z.array(UpdatedNumber).describe('Many numbers, in the order given.'),
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
    const kept = new KeptChanges('phone_number', run.session)
    const { phone_number_ids: ids, where, include_subaccounts: isTree, undo } = run.options
    if (undo !== undefined) return undoNumbers(await kept.objectsOf(undo, run), run, kept)
    const selected = await selectItems<PhoneNumber>(
      { ids, where, isTree },
      { argument: 'phone_number_id', find: (lists) => findNumbers(where ?? {}, lists) },
      run,
    )
    const links = await linksForDryRun(run)
    if ('oneId' in selected)
      return kept.named(oneResult(await updateOneNumber(selected.oneId, run, { links, kept })))
    if (run.body.number !== undefined)
      throw badArguments([
        { argument: 'number', message: 'belongs to one number: give it with phone_number_id' },
      ])
    // Changes made before a failure, the time limit or a cancellation persist, and the result lists
    // them; a repeated call finds nothing to change there.
    const update = (id: string, own: UpdateRun) => updateOneNumber(id, own, { links, kept })
    const outcomes = await forEachSelected(selected.items, 'phone_number_id', update, run)
    refuseIfNoneDone(outcomes, selected.argument)
    return kept.named(manyResult(outcomes, selected, run.options))
  },
})

/**
 * Takes back a change of one number or many, in the account that it was made in. Throws Refused and
 * ApiError if nothing was done.
 */
async function undoNumbers(
  objects: readonly KeptObject[],
  run: UpdateRun,
  kept: KeptChanges,
): Promise<ToolOutcome> {
  if (!run.restricted.mayRead(routes.phoneNumbers.get))
    throw badArguments([
      { argument: 'undo', message: 'needs get_phone_number, which this server does not offer' },
    ])
  const { account, selection } = selectedObjects(objects)
  const own = runIn(account, run)
  const update = (id: string, own: UpdateRun) => {
    const undoes = objects.find((object) => object.id === id)
    return updateOneNumber(id, own, { links: {}, kept, undoes })
  }
  const [first] = objects
  if (first && objects.length === 1) return kept.named(oneResult(await update(first.id, own)))
  const outcomes = await forEachSelected(selection.items, 'phone_number_id', update, own)
  refuseIfNoneDone(outcomes, selection.argument)
  return kept.named(manyResult(outcomes, selection, run.options))
}

interface NumberUpdate {
  readonly links: LinkNames
  readonly kept: KeptChanges
  /** The change to take back, instead of the fields of the run. */
  readonly undoes?: KeptObject | undefined
}

/** Effect of an update on one number, real or in a dry run. */
interface NumberReport extends UpdateReport {
  /** The number afterwards. */
  readonly number: PhoneNumber
  readonly changes: readonly NumberChange[]
}

/**
 * Reads a number, and sends only what differs. If no exposed tool reads numbers, the update is sent
 * without reading. Throws ApiError.
 */
async function updateOneNumber(
  id: string,
  run: UpdateRun,
  { links, kept, undoes }: NumberUpdate,
): Promise<NumberReport> {
  const { session, restricted, options, signal } = run
  const params = { ...run.request.params, phone_number_id: id }
  const stored = restricted.mayRead(routes.phoneNumbers.get)
    ? await session.client.call(routes.phoneNumbers.get, { params, query: {} }, signal)
    : undefined
  const before = stored && argumentsOf(stored)
  const undo = before && undoes && earlierBody(before, undoes.paths, removable)
  // The values were those of a number.
  const body = undo ? (undo.body as NumberBody) : run.body
  const unread = stored ? [] : [unreadWarning]
  const notes = undo?.notes ?? []
  const planned = plannedChanges(stored, body, links)
  if (planned.length === 0 || options.dry_run)
    return {
      number: stored ?? { id },
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
  const applied = changes.length > 0
  const isIgnored = unread.length + ignored.length > 0
  return { number: updated, applied, changes, warnings, isIgnored }
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
          wrongLink('sip_trunk_id', `there is no SIP trunk ${sip_trunk_id}`),
        )
      : undefined,
    agent_id
      ? existing(read(routes.agents.get, { agent_id }), () =>
          wrongLink('inbound_agent_id', `there is no agent ${agent_id}`),
        )
      : undefined,
  ])
  if (agent?.is_archived) throw wrongLink('inbound_agent_id', `the agent ${agent_id} is archived`)
  return {
    ...(trunk && { sip_trunk_id: linkOf(trunk) }),
    ...(agent && { inbound_agent_id: linkOf(agent) }),
  }
}

const wrongLink = (argument: string, message: string) => badArguments([{ argument, message }])

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

function oneResult(report: NumberReport): OutputWithLines {
  const { number, applied, changes, warnings, isIgnored } = report
  const head = updateHead(report, `number ${numberInWords(number)}`, 'change')
  return {
    structured: { ...number, applied, changes, warnings },
    lines: [
      isIgnored && !applied ? head : `${head}.`,
      ...warnings.map((warning) => `Warning: ${warning}`),
      ...changes.map(changeInWords),
    ],
  }
}

function manyResult(
  outcomes: readonly NamedOutcome<NumberReport>[],
  selection: ItemSelection,
  { dry_run: isDryRun }: UpdateRun['options'],
): OutputWithLines {
  const numbers = outcomes.map(shownNumber)
  const { summary, text } = countsOf(numbers, updateOutcomes, 'number')
  const named = namesOf(numbers, ({ phone_number_id }) => phone_number_id)
  const { fields, before, after } = selectionResult(selection)
  const { shared, items } = accountOnce(numbers)
  const reports = outcomes.flatMap(({ outcome }) => (outcome.state === 'done' ? outcome.value : []))
  return {
    structured: { summary, ...fields, ...shared, numbers: items },
    lines: [
      `${isDryRun ? 'Dry run, nothing saved. ' : ''}${text}`,
      ...before,
      ...updateLines(numbers, named, [
        ...textsOf(reports, ({ warnings }) => warnings.map((warning) => `Warning: ${warning}`)),
        ...textsOf(reports, ({ changes }) => changes.map(changeInWords)),
      ]),
      ...after,
    ],
  }
}

/** Texts of several numbers, equal ones once. */
const textsOf = (
  reports: readonly NumberReport[],
  texts: (report: NumberReport) => readonly string[],
): string[] =>
  grouped(reports, texts).map(
    ([text, some]) => `${text}: ${some.map(({ number }) => numberInWords(number)).join(', ')}`,
  )

function shownNumber({ given, id, account, outcome }: NamedOutcome<NumberReport>): UpdatedNumber {
  const number = outcome.state === 'done' ? outcome.value.number : undefined
  const shownId = number?.id ?? id
  return {
    ...(shownId && { phone_number_id: shownId }),
    name: number ? numberInWords(number) : given,
    ...(account && { account: { ...account } }),
    ...updateOutcome(outcome),
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
function changeInWords({ field, before, after }: NumberChange): string {
  const texts = [inWords(before), inWords(after)]
  const [from, to] = texts[0] === texts[1] ? [withId(before), withId(after)] : texts
  return `${field}: ${from} → ${to}`
}

function inWords(value: Value | undefined): string {
  if (value === undefined) return 'unknown'
  if (value === null) return 'none'
  return quoted(typeof value === 'string' ? value : (value.name ?? value.id))
}

const withId = (value: Value | undefined): string =>
  !value || typeof value === 'string' ? inWords(value) : quotedNameWithId(value.name, value.id)
