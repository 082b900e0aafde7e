import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { routes } from '../../src/contract/routes.ts'
import { SipTrunk } from '../../src/contract/sip-trunk.ts'
import { quotedNameWithId, shownName } from '../../src/text/dialog-text.ts'
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
  changesOf,
  type Fields,
  fieldChanges,
  pathsBetween,
  sameFieldsOf,
  shortJson,
} from '../../src/tool/field-changes.ts'
import {
  listChangeInWords,
  type MissingEntries,
  missingEverywhere,
  missingWarnings,
} from '../../src/tool/list-edits.ts'
import { accountOnce } from '../../src/tool/lists/list-fields.ts'
import { severalAccountsShape } from '../../src/tool/lists/several-accounts.ts'
import { badArguments } from '../../src/tool/refused.ts'
import { type ItemSelection, selectItems, selectionResult } from '../../src/tool/selection.ts'
import type { OutputWithLines, Run, ToolOutcome } from '../../src/tool/tool.ts'
import {
  driftedFields,
  earlierBody,
  KeptChanges,
  type KeptObject,
  notTaken,
  selectedObjects,
  undoOption,
  undoShape,
} from '../../src/tool/undo.ts'
import { emptyIps, ipEdit, ipOptions, isEmpty, wantedIps } from './allowed-ips.ts'
import { trunkInWords } from './trunk-in-words.ts'

/** Arguments besides the fields to change. Exactly one of the first two, or undo, is given. */
const options = {
  sip_trunk_id: z.string().min(1).optional().describe('Trunk id.'),
  sip_trunk_ids: manyIds.describe('Instead: many, or * for all.'),
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: sip_trunk_ids also finds trunks of all subaccounts.'),
  ...ipOptions,
  dry_run: z.boolean().optional().describe('true: show the changes, save nothing.'),
  ...undoOption,
}

type UpdateRun = Run<typeof routes.sipTrunks.update, typeof options>

/** The result for one of many trunks. */
const UpdatedTrunk = z.object({
  sip_trunk_id: z.string().optional().describe('Trunk id.'),
  name: z.string().optional().describe('Its name, or how it was given.'),
  account: severalAccountsShape.item.account.optional(),
  ...outcomeShape.item,
  ...updateOutcomeShape,
})
type UpdatedTrunk = z.output<typeof UpdatedTrunk>

/** Fields that no update changes. They are in the result, and get_sip_trunk describes them. */
const unchangeable = {
  has_auth_password: true,
  auth_password_length: true,
  sip_auth_username: true,
} as const

/** One trunk: its new state and the changes. Many: the result for each. */
const schema = SipTrunk.omit(unchangeable)
  .extend({
    applied: z.boolean().describe('False: nothing was saved.'),
    changes: fieldChanges,
    warnings: updateWarnings,
    ...outcomeShape.result,
    ...severalAccountsShape.result,
    ...undoShape,
    trunks: z.array(UpdatedTrunk).describe('Many trunks, in the order given.'),
  })
  .partial()

/** Updates one trunk, or applies the same change to many. */
export const updateSipTrunk = defineTool({
  name: 'update_sip_trunk',
  title: 'Change SIP trunks',
  description: 'Changes SIP trunks. Fields are those of create_sip_trunk.',
  route: routes.sipTrunks.update,
  listing: {
    typesOnly: ['termination_uri', 'allowed_ips', 'dry_run'],
    undescribed: ['add', 'remove'],
  },
  options,
  changes: [...Object.keys(ipOptions), 'undo'],
  schema,
  hasTimeLimit: true,
  reportsProgress: true,
  async run(run) {
    const kept = new KeptChanges('sip_trunk', run.session)
    const { sip_trunk_ids: ids, include_subaccounts: isTree, undo } = run.options
    if (undo !== undefined) return undoTrunks(await kept.objectsOf(undo, run), run, kept)
    ipEdit(run.options, run.body)
    const selected = await selectItems<SipTrunk>(
      { ids, where: undefined, isTree },
      {
        argument: 'sip_trunk_id',
        isWithoutWhere: true,
        find: async ({ read }) => ({ ...(await read(routes.sipTrunks.list)), notes: [] }),
      },
      run,
    )
    if ('oneId' in selected)
      return kept.named(oneResult(await updateOneTrunk(selected.oneId, run, { kept })))
    // Changes made before a failure persist; a repeated call finds nothing to change there.
    const update = (id: string, own: UpdateRun) => updateOneTrunk(id, own, { kept })
    const outcomes = await forEachSelected(selected.items, 'sip_trunk_id', update, run)
    refuseIfNoneDone(outcomes, selected.argument)
    return kept.named(manyResult(outcomes, selected, run.options))
  },
})

/**
 * Takes back a change of one trunk or many, in the account that it was made in. Throws Refused and
 * ApiError if nothing was done.
 */
async function undoTrunks(
  objects: readonly KeptObject[],
  run: UpdateRun,
  kept: KeptChanges,
): Promise<ToolOutcome> {
  const { account, selection } = selectedObjects(objects)
  const own = runIn(account, run)
  const update = (id: string, own: UpdateRun) =>
    updateOneTrunk(id, own, { kept, undoes: objects.find((object) => object.id === id) })
  const [first] = objects
  if (first && objects.length === 1) return kept.named(oneResult(await update(first.id, own)))
  const outcomes = await forEachSelected(selection.items, 'sip_trunk_id', update, own)
  refuseIfNoneDone(outcomes, selection.argument)
  return kept.named(manyResult(outcomes, selection, run.options))
}

interface TrunkUpdate {
  readonly kept: KeptChanges
  /** The change to take back, instead of the fields of the run. */
  readonly undoes?: KeptObject | undefined
}

/** Effect of an update on one trunk, real or in a dry run. */
interface TrunkReport extends UpdateReport {
  /** The trunk afterwards. */
  readonly trunk: SipTrunk
  /** Addresses to remove that it did not have. */
  readonly missing: readonly MissingEntries[]
}

/** Fields that null removes. */
const removable = ['name', 'termination_uri', 'allowed_ips']

/**
 * Reads a trunk, and sends only what differs. Without an exposed tool that reads trunks, the fields
 * are sent as they are; single addresses cannot be changed then. Throws Refused and ApiError.
 */
async function updateOneTrunk(
  id: string,
  run: UpdateRun,
  { kept, undoes }: TrunkUpdate,
): Promise<TrunkReport> {
  const { client } = run.session
  const edit = undoes ? undefined : ipEdit(run.options, run.body)
  const request = { params: { ...run.request.params, sip_trunk_id: id }, query: {} }
  const mayRead = run.restricted.mayRead(routes.sipTrunks.get)
  const needs = edit?.arguments.add ?? (run.options.dry_run && 'dry_run')
  if (!mayRead && needs)
    throw badArguments([
      { argument: needs, message: 'needs get_sip_trunk, which this server does not offer' },
    ])
  const stored =
    mayRead || undoes ? await client.call(routes.sipTrunks.get, request, run.signal) : undefined
  const undo = stored && undoes && earlierBody(stored, undoes.paths, removable)
  const ips = stored && edit && wantedIps(stored, edit)
  const wanted: Fields = undo?.body ?? { ...run.body, ...(ips && { allowed_ips: ips.ips }) }
  const body = differing(stored, wanted)
  const missing = ips ? [ips.missing] : []
  const emptied = 'allowed_ips' in body && isEmpty(body.allowed_ips) ? [emptyIps] : []
  const notes = [...(undo?.notes ?? []), ...(ips?.warnings ?? []), ...emptied]
  const isUndo = undo !== undefined
  if (stored && (run.options.dry_run || Object.keys(body).length === 0)) {
    const changes = changesOf(pathsBetween(sameFieldsOf(stored, body), body))
    return {
      trunk: stored,
      applied: false,
      changes,
      missing,
      warnings: notes,
      isIgnored: false,
      isUndo,
    }
  }
  const changed = (to: Fields) => pathsBetween(stored && sameFieldsOf(stored, body), to)
  const saved = await kept.send(
    stored && {
      ...{ request, id, name: stored.name, unread: driftedFields(stored) },
      paths: changed(body),
    },
    () => client.call(routes.sipTrunks.update, { ...request, body }, run.signal),
    (reply) => changed(sameFieldsOf(reply, body)),
  )
  const ignored = notTaken(body, saved)
  const changes = changesOf(
    pathsBetween(sameFieldsOf(stored ?? {}, body), sameFieldsOf(saved, body)),
  )
  const warnings = [...notes, ...ignored]
  return {
    ...{ trunk: saved, changes, missing, warnings, isUndo },
    ...{ applied: changes.length > 0, isIgnored: ignored.length > 0 },
  }
}

/** The fields that differ from the stored ones; all of them if it could not be read. */
const differing = (stored: SipTrunk | undefined, wanted: Fields): Fields =>
  Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => !stored || !isDeepStrictEqual(stored[name] ?? null, value ?? null),
    ),
  )

function oneResult(report: TrunkReport): OutputWithLines {
  const { trunk, applied, changes, missing } = report
  const warnings = [...missing.flatMap(missingWarnings), ...report.warnings]
  const name = `SIP trunk ${quotedNameWithId(trunk.name, trunk.id)}`
  const head = applied ? trunkInWords('Updated', trunk) : `${updateHead(report, name, 'change')}.`
  return {
    structured: { ...trunk, applied, changes: [...changes], warnings },
    lines: [
      head,
      // The first line shows the saved list.
      ...warnings.filter((text) => !applied || text !== emptyIps).map((text) => `Warning: ${text}`),
      ...changes.map(changeInWords),
    ],
  }
}

function manyResult(
  outcomes: readonly NamedOutcome<TrunkReport>[],
  selection: ItemSelection,
  { dry_run: isDryRun }: UpdateRun['options'],
): OutputWithLines {
  const trunks = outcomes.map(shownTrunk)
  const { summary, text } = countsOf(trunks, updateOutcomes, 'SIP trunk')
  const named = namesOf(trunks, ({ sip_trunk_id }) => sip_trunk_id)
  const { fields, before, after } = selectionResult(selection)
  const { shared, items } = accountOnce(trunks)
  const reports = outcomes.flatMap(({ outcome }) => (outcome.state === 'done' ? outcome.value : []))
  const textsOf = (of: (trunk: UpdatedTrunk) => readonly string[]) =>
    grouped(trunks, of).map(([text, some]) => `${text}: ${named(some)}`)
  return {
    structured: { summary, ...fields, ...shared, trunks: items },
    lines: [
      `${isDryRun ? 'Dry run, nothing saved. ' : ''}${text}`,
      ...before,
      ...missingEverywhere(reports.map(({ missing }) => missing))
        .flatMap(missingWarnings)
        .map((text) => `Warning: ${text}`),
      ...updateLines(trunks, named, [
        ...textsOf(({ warnings = [] }) => warnings.map((text) => `Warning: ${text}`)),
        ...textsOf(({ changes = [] }) => changes.map(changeInWords)),
      ]),
      ...after,
    ],
  }
}

function shownTrunk({ given, id, account, outcome }: NamedOutcome<TrunkReport>): UpdatedTrunk {
  const trunk = outcome.state === 'done' ? outcome.value.trunk : undefined
  return {
    ...((trunk?.id ?? id) && { sip_trunk_id: trunk?.id ?? id }),
    name: trunk?.name || given,
    ...(account && { account: { ...account } }),
    ...updateOutcome(outcome),
  }
}

/** `allowed_ips: +198.51.100.7 −203.0.113.9` */
function changeInWords({ field, before, after }: z.output<typeof fieldChanges>[number]): string {
  const edit = field === 'allowed_ips' && listChangeInWords(before, after, shownName)
  return `${field}: ${edit || `${shortJson(before)} → ${shortJson(after)}`}`
}
