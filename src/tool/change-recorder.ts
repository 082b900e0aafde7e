import * as z from 'zod'
import type { RouteRequest } from '../contract/route.ts'
import { ApiError, mayBeDone } from '../platform/failure.ts'
import { driftedFields } from '../platform/reply-drift.ts'
import { accountIdIn, ownAccountId } from '../platform/sessions/account.ts'
import type { Session } from '../platform/sessions/session.ts'
import { resultOr } from '../platform/time-limit.ts'
import { StateError } from '../state/state-access.ts'
import type { ChangedObject, ChangedPath, ChangeWriter } from '../state/undo-log.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { type Fields, fieldsNamedIn, pathsBetween } from './field-changes.ts'
import type { OutputWithLines } from './tool.ts'

/*
 * Records changes in the undo log. Before an update sends its request, the paths that it changes
 * are stored with their values; afterwards the values of the reply are stored. A failure to store
 * never fails the update.
 */

/** Result fields of a tool that changes something. */
export const undoShape = {
  undo: z.string().optional().describe('Id of this change, to take it back.'),
  no_undo: z.string().optional().describe('Why it cannot be taken back.'),
}

export type RecordingSession = Pick<Session, 'cache' | 'platform' | 'undoLog' | 'pinnedAccount'>

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

/** Records the changes of one tool call, so that a later tool call can undo them. */
export class ChangeRecorder {
  readonly #kind: ChangedObject['kind']
  readonly #session: RecordingSession
  #writer: Promise<ChangeWriter> | undefined
  /** Reason why nothing more is stored. Later objects do not wait for a broken store again. */
  #fault: string | undefined
  #recorded = 0
  readonly #notRecorded: string[] = []

  constructor(kind: ChangedObject['kind'], session: RecordingSession) {
    this.#kind = kind
    this.#session = session
    if (!session.undoLog) this.#fault = switchedOff
  }

  /**
   * Records the earlier values of an object, then sends the change. `pathsIn`: the changes that the
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
      if ('settle' in added) this.#recorded++
      else this.#notRecorded.push(added.fault)
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
    const changed = (to: Fields) => (stored ? pathsBetween(fieldsNamedIn(body, stored), to) : [])
    return this.send(
      stored && {
        ...{ request, id, name: stored.name, unread: driftedFields(stored), paths: changed(body) },
      },
      send,
      (reply) => changed(fieldsNamedIn(body, reply)),
    )
  }

  /**
   * Adds to the result of the tool call the id that undoes its changes, or the reason why they
   * cannot be undone.
   */
  async withUndoId<T extends OutputWithLines>(outcome: T): Promise<T> {
    await this.#flush()
    const undo = this.#recorded > 0 ? (await this.#writer)?.change : undefined
    const [fault] = this.#notRecorded
    const count = this.#notRecorded.length
    const part = undo === undefined ? 'This change' : `${count} of ${count + this.#recorded}`
    const no_undo = fault && `${part} cannot be taken back: ${fault}`
    const [head = '', ...lines] = outcome.lines
    return {
      ...outcome,
      structured: {
        ...outcome.structured,
        ...(undo !== undefined && { undo }),
        ...(no_undo && { no_undo }),
      },
      lines: [
        [head, undo && `Take it back with undo ${undo}.`, no_undo && `${no_undo}.`]
          .filter(Boolean)
          .join(' '),
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
export const switchedOff = 'this server keeps no earlier values (--undo-days 0)'

const inTime = <T>(work: Promise<T>): Promise<T | 'late'> =>
  resultOr(work, () => 'late' as const, { ms: maxWaitMs })

/**
 * Owner of stored changes: the API key's own account on its platform. All API keys of the account
 * share the changes. Throws ApiError.
 */
export const changeOwner = async (session: RecordingSession): Promise<string> =>
  JSON.stringify([session.platform, canonicalId(await ownAccountId(session))])
