import type { ApiError, Failure } from '../../api/failure.ts'
import type { Session } from '../../session/session.ts'
import type { AdviceRow, FailedCall } from './advice-row.ts'
import { adviceRows } from './advice-rows.ts'

/** One argument that cannot be used, and why. */
export interface ArgumentProblem {
  /** Dotted path, such as `voice.settings.speed`. */
  readonly argument: string
  readonly message: string
}

/** A failure as results report it: what happened, which arguments are wrong, what to do next. */
export interface Advice {
  readonly what: string
  readonly fields: readonly (ArgumentProblem & { readonly type?: string })[]
  readonly next: string
  /** Whether the very same call can succeed later. */
  readonly retryable: boolean
}

/** Advice, and the id of its row, which programs recognise the failure by. */
export interface NamedAdvice extends Advice {
  readonly advice: string
}

/** The advice for a failed request: the only place where a tool's API failures become texts. */
export function adviceFor(error: ApiError, call: FailedCall): NamedAdvice {
  const { failure } = error
  const row = adviceRows.find(({ when }) => when(failure, call))
  // The last row matches everything.
  if (!row) throw new Error(`No advice for ${failure.kind}`)
  const fields = fieldsOf(failure, call)
  return {
    advice: row.id,
    what: row.what(failure, call),
    fields,
    ...nextOf(row, error, call),
  }
}

/** The wrong arguments, by the names they have in the tool, and what may have been meant. */
function fieldsOf(failure: Failure, { hints, tool, session }: FailedCall): Advice['fields'] {
  if (failure.kind === 'bad_parameter') {
    return [{ argument: failure.name, message: `"${failure.value}" is not an id` }]
  }
  const reported = failure.kind === 'rejected' ? failure.errors : []
  const fields = reported.map(({ field, message, type }) => {
    const argument = argumentOf(field, tool.name)
    const hint = hints[argument]
    return { argument, message: hint ? `${message} ${hint}` : message, type }
  })
  const unreported = Object.entries(withoutPinned(hints, session)).filter(
    ([argument]) => !fields.some((field) => field.argument === argument),
  )
  return [...fields, ...unreported.map(([argument, message]) => ({ argument, message }))]
}

/** A pinned account is not an argument, so it is not reported as one. */
function withoutPinned({ account_id, ...hints }: FailedCall['hints'], { pinnedAccount }: Session) {
  return account_id === undefined || pinnedAccount !== undefined ? hints : { account_id, ...hints }
}

/** The platform's `body.voice.speed` or `query.page` as the tool's own argument. */
function argumentOf(field: string, tool: string): string {
  const argument = field.replace(/^(body|query|path)\./, '')
  return tool === 'get_conversation' && argument === 'conversation_id' ? 'id' : argument
}

/**
 * What to do. The row's own text applies where repeating is harmless: reading, writing the same
 * values, removing the same thing, or when nothing was sent. Creating and calling are not repeated
 * before a look at what is there.
 */
function nextOf(
  row: AdviceRow,
  { failure, method, effect }: ApiError,
  call: FailedCall,
): Pick<Advice, 'next' | 'retryable'> {
  const next = row.next(failure, call)
  if (row.again !== 'if harmless') return { next, retryable: row.again === 'yes' }
  const maybeSent = !('maybeSent' in failure) || failure.maybeSent
  const isRepeatable = effect === 'reads' || method === 'PATCH' || method === 'DELETE'
  if (isRepeatable || !maybeSent) {
    return { next: `${maybeSent ? '' : 'Nothing was sent. '}${next}`.trim(), retryable: true }
  }
  const { tool, check } = call
  const succeeded = 'status' in failure && failure.status >= 200 && failure.status < 300
  const state = succeeded
    ? 'Its status says that it was done.'
    : 'It may have been done nevertheless.'
  const look = check ? ` Look with ${check} before you call ${tool.name} again.` : ''
  return { next: `${state}${look}`, retryable: false }
}
