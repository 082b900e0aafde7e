import * as z from 'zod'
import type { DialogText } from '../text/dialog-text.ts'
import {
  type BulkRun,
  forEachSelected,
  type NamedOutcome,
  type Outcome,
  refuseIfNoneDone,
} from './bulk.ts'
import {
  bulkResult,
  bulkResultShape,
  grouped,
  type Names,
  notDoneInWords,
  type ShownItem,
  shownItemShape,
} from './bulk-result.ts'
import { ChangeRecorder, undoShape } from './change-recorder.ts'
import { type ChangedPath, type FieldChange, fieldChanges } from './field-changes.ts'
import type { ItemSelection } from './item-selection.ts'
import { type MissingEntries, missingEverywhere, missingWarnings } from './list-edits.ts'
import type { AccountListsRun } from './lists/complete-account-lists.ts'
import type { OutputWithLines, ToolOutcome } from './tool.ts'
import { changeToUndo, type UndoRun, undoOption, withUndoneChange } from './undo.ts'

/*
 * Updates one item, or many items in the same way, or undoes an earlier update. Selects the items,
 * calls the tool's own `update` for each, and reports the changes.
 */

/** Arguments that every update has. */
export const updateOptions = {
  dry_run: z.boolean().optional().describe('true: show the changes, save nothing.'),
  ...undoOption,
}

/** Operations of an update tool for its kind of item. */
interface ItemUpdates<T, R> {
  readonly kind: 'agent' | 'phone_number' | 'sip_trunk'
  /** Word for one item in messages. */
  readonly noun: string
  /** Name of the result field with the list of items. */
  readonly list: string
  /**
   * The items that the arguments select. `oneId`: the arguments name a single item. Throws Refused
   * and ApiError.
   */
  readonly select: () => Promise<{ readonly oneId: string } | ItemSelection>
  /** Updates one item, or undoes its recorded change. Throws Refused and ApiError. */
  readonly update: (id: string, run: R, recording: ItemRecording) => Promise<UpdateReport<T>>
  /** The result for one item: its fields, and the first and last lines. */
  readonly one: (report: UpdateReport<T>) => {
    readonly fields: object
    readonly head: string
    readonly after?: readonly string[]
  }
  readonly nameOf: (item: T) => string | null | undefined
  /** Name of an item in the result's text, if not its own name. */
  readonly labelOf?: (item: T) => DialogText
  readonly changeInWords: (change: FieldChange) => string
  /** Additions to the result for many items. */
  readonly many?: {
    readonly factsOf: (item: T) => object
    /** Replaces the items in the result's list. */
    readonly listed: (items: readonly UpdatedItem[]) => readonly UpdatedItem[]
    /** Lines with warnings and changes. */
    readonly lines: (items: readonly UpdatedItem[], named: Names<UpdatedItem>) => readonly string[]
  }
}

/** What the update of one item records, and restores if it is an undo. */
export interface ItemRecording {
  /** Sends and records the change. */
  readonly recorder: ChangeRecorder
  /** The paths to restore; `undefined`: the update is not an undo. */
  readonly undonePaths: readonly ChangedPath[] | undefined
}

/** Effect of an update on one item, or the effect it would have in a dry run. */
export interface UpdateReport<T = unknown> {
  /** The item after the update. */
  readonly item: T
  /** False if nothing was saved. */
  readonly applied: boolean
  readonly changes: readonly FieldChange[]
  readonly warnings: readonly string[]
  /** Entries to remove that the item's lists did not have. */
  readonly missing?: readonly MissingEntries[]
  /** True if the platform accepted the request but ignored changes, which warnings name. */
  readonly isIgnored: boolean
  /** True for an undo. Warnings name what stays unchanged. */
  readonly isUndo?: boolean
}

type UpdateRun = AccountListsRun &
  BulkRun &
  UndoRun & { readonly options: { readonly dry_run?: boolean | undefined } }

/** Updates the items of a run. Throws Refused and ApiError if nothing was done. */
export async function updateItems<T, R extends UpdateRun>(
  run: R,
  items: ItemUpdates<T, R>,
): Promise<ToolOutcome> {
  const recorder = new ChangeRecorder(items.kind, run.session)
  const undo = await changeToUndo(items.kind, run)
  const { selected, run: own } = undo ?? { selected: await items.select(), run }
  const update = (id: string, itemRun: R) =>
    items.update(id, itemRun, { recorder, undonePaths: undo?.pathsOf(id) })
  const outcomeOf = (output: OutputWithLines) => recorder.withUndoId(withUndoneChange(undo, output))
  if ('oneId' in selected) return outcomeOf(oneResult(await update(selected.oneId, own), items))
  // Changes made before a failure, the time limit or a cancellation persist, and the result lists
  // them. If the tool call is repeated, they count as unchanged.
  const outcomes = await forEachSelected(selected.items, `${items.kind}_id`, update, own)
  refuseIfNoneDone(outcomes, selected.argument)
  return outcomeOf(manyResult(outcomes, selected, { ...items, isDryRun: run.options.dry_run }))
}

export const updateWarnings = z.array(z.string()).describe('What may be a mistake.')

/** Result fields besides those of the item and the list of items. */
export const updateResultShape = {
  applied: z.boolean().describe('False: nothing was saved.'),
  changes: fieldChanges,
  warnings: updateWarnings,
  ...bulkResultShape,
  ...undoShape,
}

function oneResult<T>(
  report: UpdateReport<T>,
  { one, changeInWords }: Pick<ItemUpdates<T, never>, 'one' | 'changeInWords'>,
): OutputWithLines {
  const { applied, changes, missing = [] } = report
  const { fields, head, after = [] } = one(report)
  const warnings = [...missing.flatMap(missingWarnings), ...report.warnings]
  return {
    structured: { ...fields, applied, changes: [...changes], warnings },
    lines: [
      head,
      // Warnings come first, because a result with many changes omits its last lines. The first
      // line for a trunk may already contain a warning.
      ...warnings.filter((warning) => !head.includes(warning)).map(inLine),
      ...changes.map(changeInWords),
      ...after,
    ],
  }
}

const inLine = (warning: string) => `Warning: ${warning}`

/**
 * First line of the result for one item. `notChanged`: verb for changes that the platform ignored.
 */
export function updateHead(
  { applied, changes, warnings, isIgnored, isUndo }: UpdateReport,
  named: string,
  notChanged = 'change',
): string {
  if (applied) return `Updated ${named}`
  if (changes.length > 0) return `Dry run, nothing saved: ${named} would change`
  if (isUndo && warnings.length > 0) return `Nothing taken back: ${named} stays as it is`
  return isIgnored
    ? `Nothing changed: the platform did not ${notChanged} ${named}`
    : `Nothing to change: ${named} has these values already`
}

/** Outcomes of an item of a bulk update, worst first. */
const updateOutcomes = [
  'failed',
  'unknown',
  'not_tried',
  'updated',
  'would_change',
  'unchanged',
] as const

/** Result fields of an item of a bulk update, besides its id. */
export const updatedItemShape = {
  ...shownItemShape,
  outcome: z.enum(updateOutcomes).describe('unknown: sent, and not known whether it was saved.'),
  changes: fieldChanges.optional(),
  warnings: updateWarnings.optional(),
}

export interface UpdatedItem extends ShownItem {
  readonly changes?: readonly FieldChange[]
  readonly warnings?: readonly string[]
}

function manyResult<T>(
  outcomes: readonly NamedOutcome<UpdateReport<T>>[],
  selection: ItemSelection,
  items: ItemUpdates<T, never> & { readonly isDryRun: boolean | undefined },
): OutputWithLines {
  const { kind, noun, list, nameOf, changeInWords, many, isDryRun } = items
  const updated = outcomes.map(({ given, id, account, outcome }): UpdatedItem => {
    const item = outcome.state === 'done' ? outcome.value.item : undefined
    return {
      ...{ id, name: (item && nameOf(item)) || given, account },
      label: item && items.labelOf?.(item),
      ...updateOutcome(outcome),
      ...(item && many?.factsOf(item)),
    }
  })
  const reports = outcomes.flatMap(({ outcome }) => (outcome.state === 'done' ? outcome.value : []))
  return bulkResult(updated, selection, {
    ...{ idArgument: `${kind}_id`, noun, list, order: updateOutcomes },
    head: isDryRun ? 'Dry run, nothing saved. ' : '',
    ...(many && { listed: many.listed }),
    lines(named) {
      const linesOf = (textsOf: (item: UpdatedItem) => readonly string[]) =>
        grouped(updated, textsOf).map(([text, some]) => `${text}: ${named(some)}`)
      const unchanged = updated.filter(({ outcome }) => outcome === 'unchanged')
      return [
        ...missingEverywhere(reports.map(({ missing = [] }) => missing))
          .flatMap(missingWarnings)
          .map(inLine),
        ...notDoneInWords(updated, named),
        ...(many?.lines(updated, named) ?? [
          ...linesOf(({ warnings = [] }) => warnings.map(inLine)),
          ...linesOf(({ changes = [] }) => changes.map(changeInWords)),
        ]),
        ...(unchanged.length > 0 ? [`Unchanged: ${named(unchanged)}`] : []),
      ]
    },
  })
}

/** Effect of the update on one item of a bulk update, as fields. */
function updateOutcome(outcome: Outcome<UpdateReport>) {
  if (outcome.state !== 'done') return { outcome: outcome.state, problem: outcome.problem }
  const { applied, changes, warnings, isIgnored } = outcome.value
  const isUnchanged = !applied && changes.length === 0
  if (isUnchanged && isIgnored) return { outcome: 'failed', problem: warnings.join('; ') }
  const done = applied ? 'updated' : 'would_change'
  return {
    outcome: isUnchanged ? 'unchanged' : done,
    ...(changes.length > 0 && { changes }),
    ...(warnings.length > 0 && { warnings }),
  }
}
