import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { routes } from '../../src/contract/routes.ts'
import { SipTrunk } from '../../src/contract/sip-trunk.ts'
import { quoted, quotedNameWithId, shownName } from '../../src/text/dialog-text.ts'
import { counted } from '../../src/text/labels.ts'
import { manyIds } from '../../src/tool/bulk.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  changesBetween,
  earlierBody,
  type FieldChange,
  type Fields,
  fieldsNamedIn,
  notTaken,
  shortJson,
} from '../../src/tool/field-changes.ts'
import { selectItems } from '../../src/tool/item-selection.ts'
import { type ListEdit, listChangeInWords } from '../../src/tool/list-edits.ts'
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
import { emptyIps, ipEdit, ipOptions, isEmpty, isShownEmpty, wantedIps } from './allowed-ips.ts'

/** Arguments besides the fields to change. Exactly one of the first two or `undo` must be given. */
const options = {
  sip_trunk_id: z.string().min(1).optional().describe('Trunk id.'),
  sip_trunk_ids: manyIds.describe('Instead: many, or * for all.'),
  include_subaccounts: z
    .boolean()
    .optional()
    .describe('true: sip_trunk_ids also finds trunks of all subaccounts.'),
  ...ipOptions,
  ...updateOptions,
}

type UpdateRun = Run<typeof routes.sipTrunks.update, typeof options>

/**
 * Fields that no update changes. The result has them, but only the schema of get_sip_trunk
 * describes them.
 */
const unchangeable = {
  has_auth_password: true,
  auth_password_length: true,
  sip_auth_username: true,
} as const

/**
 * Result of an update: for one trunk, its new state and the changes; for several, one result each.
 */
const schema = SipTrunk.omit(unchangeable)
  .extend({
    ...updateResultShape,
    trunks: z
      .array(
        z.object({
          sip_trunk_id: z.string().optional().describe('Trunk id.'),
          ...updatedItemShape,
        }),
      )
      .describe('Many trunks, in the order given.'),
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
    const { sip_trunk_ids: ids, include_subaccounts: isTree } = run.options
    const edit = ipEdit(run.options, run.request.body)
    return updateItems<SipTrunk, UpdateRun>(run, {
      ...{ kind: 'sip_trunk', noun: 'SIP trunk', list: 'trunks' },
      select: () =>
        selectItems<SipTrunk>(
          { ids, where: undefined, isTree },
          {
            argument: 'sip_trunk_id',
            isWithoutWhere: true,
            find: async ({ read }) => ({ ...(await read(routes.sipTrunks.list)), notes: [] }),
          },
          run,
        ),
      update: (id, own, recording) => updateTrunk(id, own, { edit, ...recording }),
      one(report) {
        const { item: trunk, applied } = report
        const name = `SIP trunk ${quotedNameWithId(trunk.name, trunk.id)}`
        const head = applied ? trunkInWords('Updated', trunk) : `${updateHead(report, name)}.`
        return { fields: trunk, head }
      },
      nameOf: ({ name }) => name,
      changeInWords,
    })
  },
})

/** Fields that null removes. */
const removable = ['name', 'termination_uri', 'allowed_ips']

/**
 * Reads a trunk and sends only the fields that differ. If no exposed tool reads trunks, sends the
 * fields as given; single addresses then cannot be added or removed. Throws Refused and ApiError.
 */
async function updateTrunk(
  id: string,
  run: UpdateRun,
  { edit, recorder, undonePaths }: { readonly edit: ListEdit | undefined } & ItemRecording,
): Promise<UpdateReport<SipTrunk>> {
  const { client } = run.session
  const request = { params: { ...run.request.params, sip_trunk_id: id }, query: {} }
  const mayRead = run.restricted.mayRead(routes.sipTrunks.get)
  const needs = edit?.arguments.add ?? (run.options.dry_run && 'dry_run')
  if (!mayRead && needs)
    throw badArgument(needs, 'needs get_sip_trunk, which this server does not offer')
  const stored =
    mayRead || undonePaths
      ? await client.call(routes.sipTrunks.get, request, run.signal)
      : undefined
  const undo = stored && undonePaths && earlierBody(stored, undonePaths, removable)
  const ips = stored && edit && wantedIps(stored, edit)
  const wanted: Fields = undo?.body ?? { ...run.request.body, ...(ips && { allowed_ips: ips.ips }) }
  const body = differing(stored, wanted)
  const emptied = 'allowed_ips' in body && isEmpty(body.allowed_ips) ? [emptyIps] : []
  const notes = [...(undo?.notes ?? []), ...(ips?.warnings ?? []), ...emptied]
  const shared = { missing: ips ? [ips.missing] : [], isUndo: undo !== undefined }
  if (stored && (run.options.dry_run || Object.keys(body).length === 0)) {
    const changes = changesBetween(fieldsNamedIn(body, stored), body)
    return { item: stored, applied: false, changes, warnings: notes, isIgnored: false, ...shared }
  }
  const saved = await recorder.sendFields(stored, { id, body, ...request }, () =>
    client.call(routes.sipTrunks.update, { ...request, body }, run.signal),
  )
  const ignored = notTaken(body, saved)
  const changes = changesBetween(fieldsNamedIn(body, stored ?? {}), fieldsNamedIn(body, saved))
  return {
    ...{ item: saved, applied: changes.length > 0, changes, isIgnored: ignored.length > 0 },
    ...{ warnings: [...notes, ...ignored], ...shared },
  }
}

/** The fields that differ from the stored trunk; all fields if the trunk could not be read. */
const differing = (stored: SipTrunk | undefined, wanted: Fields): Fields =>
  Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => !stored || !isDeepStrictEqual(stored[name] ?? null, value ?? null),
    ),
  )

/** A change as text: `allowed_ips: +198.51.100.7 −203.0.113.9`. */
function changeInWords({ field, before, after }: FieldChange): string {
  const edit = field === 'allowed_ips' && listChangeInWords(before, after, shownName)
  return `${field}: ${edit || `${shortJson(before)} → ${shortJson(after)}`}`
}

/** A saved trunk as one line: name, id, and the fields that decide which calls it carries. */
export function trunkInWords(verb: string, trunk: SipTrunk): string {
  const { id, name, termination_uri: uri, allowed_ips: ips, phone_numbers: numbers } = trunk
  const facts = [
    uri ? `calls go out to ${quoted(uri)}` : 'no termination_uri, so no calls go out',
    ips?.length
      ? `calls come in from ${ips.map(quoted).join(', ')}`
      : isShownEmpty(trunk) && emptyIps,
    numbers && counted(numbers.length, 'number'),
  ].filter(Boolean)
  return `${verb} SIP trunk ${quotedNameWithId(name, id)}: ${facts.join('; ')}.`
}
