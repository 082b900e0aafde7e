import * as z from 'zod'
import type { RouteRequest } from '../contract/route.ts'
import { ApiError, mayBeDone } from '../platform/failure.ts'
import { driftOf } from '../platform/reply-drift.ts'
import { accountIdIn, ownAccountId } from '../platform/sessions/account.ts'
import type { Session } from '../platform/sessions/session.ts'
import { StateError } from '../state/state-access.ts'
import type { ChangedObject, ChangedPath, ChangeWriter } from '../state/undo-log.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { mapStringsOfObject } from '../text/safe-text.ts'
import { runIn } from './bulk.ts'
import { confirmName } from './confirm-mode.ts'
import {
  changesOf,
  type Fields,
  fieldChanges,
  pathsBetween,
  sameFieldsOf,
} from './field-changes.ts'
import { namedItems } from './item-selection.ts'
import { badArgument } from './refused.ts'
import type { OutputWithLines, Run, ToolOutcome } from './tool.ts'

/*
 * Undoing changes. Before an update sends its request, it stores the paths it changes with their
 * values; afterwards it stores the values of the reply. A failure to store never fails the update.
 * An undo is itself an update: it restores the paths that still have the value that the change gave
 * them, and can be undone as well.
 */

type ChangedKind = ChangedObject['kind']
export type KeptObject = ChangedObject
export type KeptPath = ChangedPath

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

/** Result fields of a tool that changes something. */
export const undoShape = {
  undo: z.string().optional().describe('Id of this change, to take it back.'),
  no_undo: z.string().optional().describe('Why it cannot be taken back.'),
}

type KeepingSession = Pick<Session, 'cache' | 'platform' | 'undoLog' | 'pinnedAccount' | 'redact'>

type RequestOnly = Pick<RouteRequest, 'params'>

/** An object that is about to change. */
interface ObjectToChange extends Pick<ChangedObject, 'id' | 'paths'> {
  readonly request: RequestOnly
  /**
   * Names in `paths` whose earlier values are unknown, because the platform shows them in an
   * undocumented form (`driftedFields`).
   */
  readonly unread: readonly string[]
  readonly name?: string | null | undefined
}

/**
 * Fields of a reply that are shown only in part, or not at all, because their form is undocumented.
 */
export const driftedFields = (reply: unknown): string[] =>
  driftOf(reply).map(({ path }) => path.split('.', 1)[0] ?? '')

/** Maximum wait for the state store, ms. A store that hangs must not hold up a change. */
const maxWaitMs = 2000

/** Failure of a request whose change may have been done. The change is stored. */
export class UnknownChange extends ApiError {
  /** Id with which the change can be undone. */
  readonly undo: string

  constructor(error: ApiError, undo: string) {
    super(error.failure, error)
    this.undo = undo
  }
}

/** Stores the changes of one tool call for a later undo. */
export class KeptChanges {
  readonly #kind: ChangedKind
  readonly #session: KeepingSession
  #writer: Promise<ChangeWriter> | undefined
  /** Reason why nothing more is stored. Later objects do not wait for a broken store again. */
  #fault: string | undefined
  #kept = 0
  readonly #notKept: string[] = []
  #isPartial = false
  /**
   * The objects of the change that is being undone, by id. `#account`: their account, if all have
   * the same one.
   */
  readonly #undone = new Map<string, ChangedObject>()
  #account: string | undefined

  constructor(kind: ChangedKind, session: KeepingSession) {
    this.#kind = kind
    this.#session = session
    if (!session.undoLog) this.#fault = switchedOff
  }

  /**
   * Stores the earlier values of an object, then sends the change. `pathsIn`: the changes that the
   * reply shows. `object` is `undefined` if the object could not be read, so that its earlier
   * values are unknown. Throws what `send` throws.
   */
  async send<T>(
    object: ObjectToChange | undefined,
    send: () => Promise<T>,
    pathsIn: (reply: T) => readonly ChangedPath[],
  ): Promise<T> {
    const added = object ? await this.#add(object) : { fault: this.#fault ?? unread }
    const count = () => {
      if ('settle' in added) this.#kept++
      else this.#notKept.push(added.fault)
    }
    try {
      const reply = await send()
      if (!('settle' in added)) count()
      else {
        const paths = pathsIn(reply)
        if (paths.length > 0) count()
        // If the platform ignored the change, there is nothing to undo.
        added.settle(paths.length > 0 ? 'done' : 'not_done', paths)
      }
      return reply
    } catch (error) {
      if (error instanceof ApiError && mayBeDone(error)) {
        count()
        const undo = 'settle' in added && (await this.#begun()).change
        throw undo ? new UnknownChange(error, undo) : error
      }
      if ('settle' in added) {
        added.settle('not_done', [])
        await this.#flush()
      }
      throw error
    }
  }

  /**
   * Like `send`, for objects whose reply has the same fields as the request body. `stored`: the
   * object as it was read; `undefined`: not read.
   */
  sendFields<T extends Fields & { readonly name?: string | null | undefined }>(
    stored: T | undefined,
    { id, body, ...request }: { readonly id: string; readonly body: Fields } & RequestOnly,
    send: () => Promise<T>,
  ): Promise<T> {
    const changed = (to: Fields) => (stored ? pathsBetween(sameFieldsOf(stored, body), to) : [])
    return this.send(
      stored && {
        ...{ request, id, name: stored.name, unread: driftedFields(stored), paths: changed(body) },
      },
      send,
      (reply) => changed(sameFieldsOf(reply, body)),
    )
  }

  /**
   * The objects of the change to undo, each in its account. With a pinned account, these are only
   * the objects of that account. `undefined`: the run is not an undo. Throws Refused, ApiError and
   * StateError.
   */
  async undoing<R extends UndoRun>(run: R) {
    const { undo } = run.options
    if (undo === undefined) return undefined
    refuseOtherArguments(run)
    const { undoLog, pinnedAccount } = this.#session
    if (!undoLog) throw badUndo(switchedOff)
    const found = await undoLog.find(await changeOwner(this.#session), undo)
    const pinned = pinnedAccount && canonicalId(await accountIdIn(run.request, this.#session))
    const objects = (found?.objects ?? []).filter(
      ({ state, account }) => state !== 'not_done' && (!pinned || canonicalId(account) === pinned),
    )
    const [first] = objects
    if (!first)
      throw badUndo(
        `this account has no change ${undo}, or no longer; get_agent with changes shows those of an agent`,
      )
    if (first.kind !== this.#kind)
      throw badUndo(`${undo} is a change of ${toolOf[first.kind]}: give it there`)
    this.#isPartial = found?.isPartial ?? false
    for (const object of objects) this.#undone.set(object.id, keyFree(object, this.#session))
    if (objects.every(({ account }) => account === first.account)) this.#account = first.account
    const items = [...this.#undone.values()].map(({ id, name = id, account }) => ({
      ...{ given: name, id },
      ...(this.#account === undefined && { account: { id: account } }),
    }))
    return {
      run: runIn(this.#account === undefined ? undefined : { id: this.#account }, run),
      selected: objects.length === 1 ? { oneId: first.id } : namedItems('undo', items),
    }
  }

  /** The stored change of an object that is being undone; `undefined`: none. */
  undone(id: string): ChangedObject | undefined {
    return this.#undone.get(id)
  }

  /**
   * The result of the tool call, with the id that undoes its changes, or with the reason why they
   * cannot be undone.
   */
  async withUndoId({
    structured,
    lines: [head = '', ...lines],
  }: OutputWithLines): Promise<ToolOutcome> {
    await this.#flush()
    const undo = this.#kept > 0 ? (await this.#writer)?.change : undefined
    const [fault] = this.#notKept
    const count = this.#notKept.length
    const part = undo === undefined ? 'This change' : `${count} of ${count + this.#kept}`
    const no_undo = fault && `${part} cannot be taken back: ${fault}`
    return {
      ...(this.#account !== undefined && { accountId: this.#account }),
      structured: {
        ...structured,
        ...(undo !== undefined && { undo }),
        ...(no_undo && { no_undo }),
      },
      lines: [
        [head, undo && `Take it back with undo ${undo}.`, no_undo && `${no_undo}.`]
          .filter(Boolean)
          .join(' '),
        ...(this.#isPartial ? ['NOT COMPLETE: a part of the change is no longer kept.'] : []),
        ...lines,
      ],
    }
  }

  async #add({ request, id, name, paths, unread }: ObjectToChange) {
    if (paths.some(({ path: [field = ''] }) => unread.includes(field))) return { fault: drifted }
    const add = async () => {
      const account = await accountIdIn(request, this.#session)
      const object = { kind: this.#kind, account, id, paths, ...(name && { name }) }
      return (await this.#begun()).add(object)
    }
    if (this.#fault !== undefined) return { fault: this.#fault }
    try {
      const added = await inTime(add())
      if (added === 'too_large') return { fault: 'its values are too large to be kept' }
      if (added !== 'late') return added
    } catch (error) {
      if (!(error instanceof StateError) && !(error instanceof ApiError)) throw error
    }
    this.#fault = 'the earlier values could not be kept at the moment'
    return { fault: this.#fault }
  }

  #begun(): Promise<ChangeWriter> {
    const { undoLog } = this.#session
    this.#writer ??= changeOwner(this.#session).then((owner) => {
      if (!undoLog) throw new StateError(switchedOff)
      return undoLog.begin(owner)
    })
    return this.#writer
  }

  /**
   * Waits until outcomes are stored, within the time limit. If one is not stored in time, an undo
   * reads the object to find its outcome.
   */
  async #flush(): Promise<void> {
    if (!this.#writer || this.#fault !== undefined) return
    await inTime(this.#writer.then((writer) => writer.flush())).catch(() => undefined)
  }
}

const unread = 'no exposed tool reads what it was before'
const drifted = 'the platform shows what it was before in an undocumented form'
const switchedOff = 'this server keeps no earlier values (--undo-days 0)'

async function inTime<T>(work: Promise<T>): Promise<T | 'late'> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => resolve('late'), maxWaitMs)
  // The caller has stopped waiting, so a later failure is ignored.
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Removes this session's API key from stored values. Another API key of the account may have stored
 * them.
 */
const keyFree = <T extends ChangedObject>(object: T, { redact }: KeepingSession): T =>
  // Only texts within the object change, so its type stays the same.
  mapStringsOfObject({ ...object }, redact) as T

/**
 * Owner of stored changes: the API key's own account on its platform. All API keys of the account
 * share the changes. Throws ApiError.
 */
const changeOwner = async (session: KeepingSession): Promise<string> =>
  JSON.stringify([session.platform, canonicalId(await ownAccountId(session))])

export type UndoRun = Pick<Run, 'request' | 'cleared'> & {
  readonly options: { readonly undo?: string | undefined }
}

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
  session: KeepingSession,
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
