import type { ApiError, Failure } from '../../api/failure.ts'
import type { Session } from '../../session/session.ts'
import { type Row, rows, type Situation } from './advice-rows.ts'

/** One argument that cannot be used, and why. */
export interface ArgumentProblem {
  /** Dotted path, such as `voice.settings.speed`. */
  readonly argument: string
  readonly message: string
}

/** A failure in words: what happened, which arguments, what to do next. */
export interface Advice {
  readonly what: string
  readonly fields: readonly (ArgumentProblem & { readonly type?: string })[]
  readonly next: string
  /** Whether the very same call can succeed later. */
  readonly retryable: boolean
}

/** Advice, and the row of the table it comes from: a word that programs can go by. */
export interface NamedAdvice extends Advice {
  readonly advice: string
}

/** Turns a failure of the API into advice. The one place where failures become words. */
export function adviceFor(error: ApiError, situation: Situation): NamedAdvice {
  const { failure } = error
  const row = rows.find(({ when }) => when(failure, situation))
  // The last row takes everything.
  if (!row) throw new Error(`No advice for ${failure.kind}`)
  const fields = fieldsOf(failure, situation)
  return {
    advice: row.id,
    what: row.what(failure, situation),
    fields,
    ...nextOf(row, error, situation),
  }
}

/** The arguments that are wrong, by the names the tool gives them, and what may have been meant. */
function fieldsOf(failure: Failure, { hints, tool, session }: Situation): Advice['fields'] {
  if (failure.kind === 'bad_parameter') {
    return [{ argument: failure.name, message: `"${failure.value}" is not an id` }]
  }
  const told = failure.kind === 'rejected' ? failure.errors : []
  const fields = told.map(({ field, message, type }) => {
    const argument = argumentOf(field, tool.name)
    const hint = hints[argument]
    return { argument, message: hint ? `${message} ${hint}` : message, type }
  })
  const untold = Object.entries(withoutPinned(hints, session)).filter(
    ([argument]) => !fields.some((field) => field.argument === argument),
  )
  return [...fields, ...untold.map(([argument, message]) => ({ argument, message }))]
}

/** An account that the operator chose is no argument, and so is not told as one. */
function withoutPinned({ account_id, ...hints }: Situation['hints'], { pinnedAccount }: Session) {
  return account_id === undefined || pinnedAccount !== undefined ? hints : { account_id, ...hints }
}

/** The platform's `body.voice.speed` or `query.page` as the tool's own argument. */
function argumentOf(field: string, tool: string): string {
  const argument = field.replace(/^(body|query|path)\./, '')
  return tool === 'get_conversation' && argument === 'conversation_id' ? 'id' : argument
}

/**
 * What to do. Where the same again is harmless (reading, writing the same values, removing the
 * same thing, or nothing was sent) the row says it; creating and calling are not repeated blindly.
 */
function nextOf(
  row: Row,
  { failure, method, effect }: ApiError,
  situation: Situation,
): Pick<Advice, 'next' | 'retryable'> {
  const next = row.next(failure, situation)
  if (row.again !== 'if harmless') return { next, retryable: row.again === 'yes' }
  const maybeSent = !('maybeSent' in failure) || failure.maybeSent
  const isRepeatable = effect === 'reads' || method === 'PATCH' || method === 'DELETE'
  if (isRepeatable || !maybeSent) {
    return { next: `${maybeSent ? '' : 'Nothing was sent. '}${next}`.trim(), retryable: true }
  }
  const { tool, check } = situation
  const succeeded = 'status' in failure && failure.status >= 200 && failure.status < 300
  const state = succeeded ? 'By its status it was done.' : 'It may have been done all the same.'
  const look = check ? ` Look with ${check} before you call ${tool.name} again.` : ''
  return { next: `${state}${look}`, retryable: false }
}
