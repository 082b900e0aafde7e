import type { RouteRequest } from '../contract/route.ts'
import { updateWarnings } from './bulk-result.ts'
import { type Fields, pathsBetween, sameFieldsOf } from './field-changes.ts'
import { badArguments } from './refused.ts'
import type { Run, ToolOutcome } from './tool.ts'
import {
  driftedFields,
  earlierBody,
  KeptChanges,
  type KeptObject,
  notTaken,
  undoShape,
} from './undo.ts'

/** An object whose fields an update takes as they are stored: a trunk, a subaccount. */
interface PlainObject extends Fields {
  readonly id: string
  readonly name?: string | null | undefined
}

type Request = Pick<RouteRequest, 'params'> & { readonly query: Fields }

interface PlainUpdate<T extends PlainObject> {
  readonly kind: KeptObject['kind']
  /** The argument with its id. */
  readonly argument: 'sip_trunk_id' | 'subaccount_id'
  /** False: no exposed tool reads it, so a change of it cannot be taken back. */
  readonly mayRead: boolean
  readonly read: (request: Request) => Promise<T>
  readonly save: (request: Request & { readonly body: Fields }) => Promise<T>
  /** Fields that null removes; others keep their value. */
  readonly removable: readonly string[]
  /** `Updated SIP trunk …`, one line. */
  readonly line: (saved: T) => string
  /** Asks before a change that needs it. */
  readonly confirm?: (change: {
    readonly body: Fields
    readonly request: Request
    /** `undefined`: it was not read. */
    readonly stored: T | undefined
  }) => Promise<void>
}

type PlainRun = Pick<Run, 'request' | 'session' | 'cleared'> & {
  readonly body: object | undefined
  readonly options: { readonly undo?: string | undefined }
}

/** Fields of the result besides those of the object. */
export const plainUpdateShape = { ...undoShape, warnings: updateWarnings.optional() }

/** Updates an object, or takes a change of it back. Throws Refused and ApiError. */
export async function updatePlain<T extends PlainObject>(
  { kind, argument, ...spec }: PlainUpdate<T>,
  run: PlainRun,
): Promise<ToolOutcome> {
  const { request: given, session, options } = run
  const kept = new KeptChanges(kind, session)
  const [object] = options.undo === undefined ? [] : await kept.objectsOf(options.undo, run)
  const id = object?.id ?? given.params[argument]
  if (id === undefined) throw badArguments([{ argument, message: 'give it, or an undo' }])
  const account = object && { account_id: object.account }
  const request = { params: { ...given.params, ...account, [argument]: id }, query: {} }
  const isRead = object !== undefined || (session.undoLog !== undefined && spec.mayRead)
  const stored = isRead ? await spec.read(request) : undefined
  const undo = object && stored && earlierBody(stored, object.paths, spec.removable)
  const body: Fields = undo?.body ?? { ...run.body }
  await spec.confirm?.({ body, request, stored })
  const isNothing = stored !== undefined && Object.keys(body).length === 0
  const send = () => spec.save({ ...request, body })
  const saved = isNothing
    ? stored
    : await kept.send(
        stored && {
          request,
          unread: driftedFields(stored),
          ...{ id, name: stored.name, paths: pathsBetween(sameFieldsOf(stored, body), body) },
        },
        send,
        (saved) =>
          stored ? pathsBetween(sameFieldsOf(stored, body), sameFieldsOf(saved, body)) : [],
      )
  const warnings = [...(undo?.notes ?? []), ...(undo && !isNothing ? notTaken(body, saved) : [])]
  const head = isNothing ? 'Nothing to take back.' : spec.line(saved)
  return kept.named({
    structured: { ...saved, ...(warnings.length > 0 && { warnings }) },
    lines: [head, ...warnings.map((warning) => `Warning: ${warning}`)],
  })
}
