import * as z from 'zod'
import { accountIdIn } from '../platform/sessions/account.ts'
import type { Session } from '../platform/sessions/session.ts'
import type { ChangedObject, ChangedPath } from '../state/undo-log.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { mapStringsOfObject } from '../text/safe-text.ts'
import { runIn } from './account-reader.ts'
import { changeOwner, type RecordingSession, switchedOff } from './change-recorder.ts'
import { confirmName } from './confirm-mode.ts'
import { changesOf, fieldChanges } from './field-changes.ts'
import { type ItemSelection, namedItems } from './item-selection.ts'
import { badArgument } from './refused.ts'
import type { OutputWithLines, Run, ToolOutcome } from './tool.ts'

/*
 * Finds recorded changes (change-recorder.ts): one to undo, or the latest of an object. An undo is
 * itself an update: it restores the paths that still have the value that the change gave them, and
 * can be undone as well.
 */

type ChangedKind = ChangedObject['kind']
const toolOf: Readonly<Record<ChangedKind, string>> = {
  agent: 'update_agent',
  phone_number: 'update_phone_number',
  sip_trunk: 'update_sip_trunk',
  subaccount: 'update_subaccount',
}

/** The argument that undoes an earlier change. */
export const undoOption = {
  undo: z.string().min(1).optional().describe('Alone: takes this change back.'),
}

export type UndoRun = Pick<Run, 'request' | 'cleared'> & {
  readonly options: { readonly undo?: string | undefined }
  readonly session: UndoSession
}

type UndoSession = RecordingSession & Pick<Session, 'redact'>

/** A recorded change that a tool call undoes. */
export interface ChangeToUndo<R> {
  /** The run in the account of the objects, if all have the same account. */
  readonly run: R
  readonly selected: { readonly oneId: string } | ItemSelection
  /** The changed paths of an object; `undefined`: the change has no such object. */
  readonly pathsOf: (id: string) => readonly ChangedPath[] | undefined
  /** Account of the objects, if all have the same account. */
  readonly accountId: string | undefined
  /** True if some objects of the change are no longer stored. */
  readonly isPartial: boolean
}

/**
 * The change that a run undoes. With a pinned account, it has only the objects of that account.
 * `undefined`: the run is not an undo. Throws Refused, ApiError and StateError.
 */
export async function changeToUndo<R extends UndoRun>(
  kind: ChangedKind,
  run: R,
): Promise<ChangeToUndo<R> | undefined> {
  const { options, request, session } = run
  const { undo } = options
  if (undo === undefined) return undefined
  refuseOtherArguments(run)
  const { undoLog, pinnedAccount } = session
  if (!undoLog) throw badUndo(switchedOff)
  const found = await undoLog.find(await changeOwner(session), undo)
  const pinned = pinnedAccount && canonicalId(await accountIdIn(request, session))
  const objects = (found?.objects ?? [])
    .filter(
      ({ state, account }) => state !== 'not_done' && (!pinned || canonicalId(account) === pinned),
    )
    .map((object) => keyFree(object, session))
  const [first] = objects
  if (!first)
    throw badUndo(
      `this account has no change ${undo}, or no longer; get_agent with changes shows those of an agent`,
    )
  if (first.kind !== kind)
    throw badUndo(`${undo} is a change of ${toolOf[first.kind]}: give it there`)
  const isOneAccount = objects.every(({ account }) => account === first.account)
  const accountId = isOneAccount ? first.account : undefined
  const byId = new Map(objects.map((object) => [object.id, object]))
  const items = [...byId.values()].map(({ id, name = id, account }) => ({
    ...{ given: name, id },
    ...(accountId === undefined && { account: { id: account } }),
  }))
  return {
    run: runIn(accountId === undefined ? undefined : { id: accountId }, run),
    selected: objects.length === 1 ? { oneId: first.id } : namedItems('undo', items),
    pathsOf: (id) => byId.get(id)?.paths,
    accountId,
    isPartial: found?.isPartial ?? false,
  }
}

/** Adds to the result of an undo the account of the change, and a warning if a part is lost. */
export function withUndoneChange(
  undo: ChangeToUndo<unknown> | undefined,
  output: OutputWithLines,
): OutputWithLines & ToolOutcome {
  if (!undo) return output
  const { accountId, isPartial } = undo
  const [head = '', ...lines] = output.lines
  const lost = 'NOT COMPLETE: a part of the change is no longer kept.'
  return {
    ...(accountId !== undefined && { accountId }),
    structured: output.structured,
    lines: [head, ...(isPartial ? [lost] : []), ...lines],
  }
}

/**
 * Removes this session's API key from stored values. Another API key of the account may have stored
 * them.
 */
const keyFree = <T extends ChangedObject>(object: T, { redact }: UndoSession): T =>
  // Only texts within the object change, so its type stays the same.
  mapStringsOfObject({ ...object }, redact) as T

/** Arguments that may be given together with `undo`. */
const beside: readonly string[] = ['undo', 'dry_run', confirmName]

function refuseOtherArguments({ request, cleared, options }: UndoRun): void {
  const { account_id: _, ...params } = request.params
  const given = Object.entries({ ...params, ...request.body, ...options }).flatMap(
    ([name, value]) => (value === undefined || beside.includes(name) ? [] : [name]),
  )
  const [other] = [...cleared.map(() => 'clear'), ...given]
  if (other !== undefined) throw badUndo(`takes a whole change back: leave out ${other}`)
}

const badUndo = (message: string) => badArgument('undo', message)

/** Result fields with the latest changes of an object. */
export const latestChangesShape = {
  changes: z
    .array(
      z.object({
        undo: z.string().describe('Id of the change.'),
        at: z.string().describe('When.'),
        outcome: z.literal('unknown').optional().describe('Not known whether it was done.'),
        changes: fieldChanges,
      }),
    )
    .optional()
    .describe('Its latest changes by this server, newest first.'),
  changes_note: z.string().optional().describe('Why there are none.'),
}

/**
 * The latest changes of an object, or the reason why there are none. Throws ApiError and
 * StateError.
 */
export async function latestChanges(
  object: Pick<ChangedObject, 'kind' | 'id'>,
  session: UndoSession,
): Promise<z.output<z.ZodObject<typeof latestChangesShape>>> {
  if (!session.undoLog) return { changes_note: `None: ${switchedOff}.` }
  const found = await session.undoLog.ofObject(await changeOwner(session), object)
  if (found.length === 0) return { changes: [], changes_note: 'This server has kept none of it.' }
  const changes = found.map((one) => {
    const { change, at, state, paths } = keyFree(one, session)
    return {
      undo: change,
      at: new Date(at).toISOString(),
      ...(state === 'sent' && { outcome: 'unknown' as const }),
      changes: changesOf(paths),
    }
  })
  return { changes }
}
