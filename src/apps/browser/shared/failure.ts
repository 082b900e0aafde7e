import * as z from 'zod/mini'
import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { actionRow, folded, h, icon, shadeEdges } from './dom.ts'
import type { ToolResult } from './host.ts'
import { lenientOr } from './lenient-schemas.ts'

/** A failure in sentences for people. The result's own text is written for models. */
export interface Failure {
  readonly title: string
  readonly text: string
  /** The invalid arguments, a sentence each. */
  readonly fields: readonly string[]
  /** The text of the result, with its lines, but without advice for models. */
  readonly details: string
  /** False if the same request fails again, at least for the next minutes. */
  readonly isRetryable: boolean
  /** True if the error says for certain that nothing was done. */
  readonly isNothingDone: boolean
}

/** Facts of an error in a result's `_meta` (docs/errors.md). */
const Meta = z.object({
  'voice-agent-mcp/error': z.object({
    kind: z.string(),
    advice: z.nullish(z.string()),
    ruleText: z.nullish(z.string()),
    retryAfter: z.nullish(z.number()),
    retryable: z.nullish(z.boolean()),
    fields: lenientOr(z.array(z.object({ argument: z.string(), message: z.string() })), []),
  }),
})

/** Maximum length of a failure's `details`, characters. */
const longestDetails = 2000

export function failureOf({ _meta, content }: ToolResult): Failure {
  const error = Meta.safeParse(_meta).data?.['voice-agent-mcp/error']
  const [title, text] =
    words[error?.advice ?? ''] ?? words[error?.kind ?? ''] ?? (error ? words.internal : unknown)
  const wait = error?.retryAfter ?? 0
  const rule = error?.ruleText && plainText(error.ruleText)
  return {
    title,
    text: (rule || text) + (wait ? ` Try again in ${waitText(wait)}.` : ''),
    fields: (error?.fields ?? []).map(
      ({ argument, message }) => `${plainText(argument)}: ${plainText(message)}`,
    ),
    details: firstCharacters(linesOf(content), longestDetails),
    isRetryable: (error?.retryable ?? !error) && wait < longestWait,
    isNothingDone: harmless.includes(error?.kind),
  }
}

/** Maximum time after which it makes sense to offer the same request again, s. */
const longestWait = 600

function waitText(seconds: number): string {
  if (seconds <= 120) return `${Math.ceil(seconds)} s`
  return seconds <= 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`
}

/** Kinds of errors after which nothing was done (docs/errors.md#kinds). */
const harmless: readonly unknown[] = [
  ...['bad_arguments', 'bad_parameter', 'conflict', 'needs_person', 'not_allowed'],
  ...['not_recorded', 'state_unavailable'],
]

/** True for an error with this advice or kind (docs/errors.md). */
export function isError({ _meta }: ToolResult, code: string): boolean {
  const { advice, kind } = Meta.safeParse(_meta).data?.['voice-agent-mcp/error'] ?? {}
  return advice === code || kind === code
}

const linesOf = (content: ToolResult['content']): string =>
  content
    .flatMap(({ text = '' }) => text.split('\n'))
    .filter((line) => !line.startsWith('Next: '))
    .map(plainText)
    .join('\n')
    .trim()

/** A failure of the client or of this view, not of the server. */
export const failureIn = (title: string, text: string, isRetryable = false): Failure => ({
  ...{ title, text, isRetryable },
  fields: [],
  details: '',
  isNothingDone: false,
})

type Words = readonly [title: string, text: string]

const unknown: Words = ['No usable answer came', 'The details may say why.']

const invalid: Words = ['This request is not valid', 'Correct what is named and ask again.']
const notFound: Words = ['Not found', 'It was removed, or it belongs to another account.']
const noAnswer: Words = ['The platform did not answer', 'It may be busy or down.']
const setup: Words = [
  'The platform cannot be reached',
  'Ask whoever runs this server to check its connection to the platform.',
]

/** Title and text of each failure, by the error's `advice` or, without one, its `kind`. */
const words: Readonly<Record<string, Words>> & { readonly internal: Words } = {
  key_refused: ['The API key was rejected', 'Enter a valid key where this connection is set up.'],
  no_access: ['No access', 'The API key has no access to this account, or the account is off.'],
  payment_required: ['Not covered', 'The credit or plan of the account does not cover this.'],
  gone: notFound,
  not_found: notFound,
  bad_request: invalid,
  invalid,
  bad_arguments: invalid,
  bad_parameter: invalid,
  conflict: ['Changed by somebody else', 'Look at it again before you change it.'],
  rate_limited: ['Too many requests', 'The platform asks for a pause.'],
  too_large: ['Too much at once', 'Ask for a shorter time, or for fewer items.'],
  unavailable: noAnswer,
  platform_error: noAnswer,
  timeout: noAnswer,
  unreachable: noAnswer,
  network: noAnswer,
  unreadable: noAnswer,
  state_unavailable: ['Not possible right now', 'This server cannot keep its records.'],
  certificate: setup,
  proxy_refused: setup,
  unknown_host: setup,
  redirected: setup,
  not_offered: setup,
  not_allowed: ['Not allowed', 'The rules of this server do not allow it.'],
  needs_person: ['A person has to agree', 'This client cannot ask one.'],
  unknown_outcome: [
    'The outcome is not known',
    'It may have been done. Check before you repeat it.',
  ],
  all_failed: ['None could be done', 'The details have the reason for each.'],
  cancelled: ['Cancelled', 'The request was cancelled before its result came.'],
  internal: ['Something went wrong here', 'This is a fault of this server, not of your request.'],
}

/** The text of a failed result, folded; false if it has none. */
export const failureDetails = ({ details }: Failure): HTMLElement | false =>
  details !== '' &&
  folded('details', 'Details', shadeEdges(h('pre', { dir: 'auto' }, details)), { class: 'small' })

/** A failure in place of the content: title, reason, and actions. */
export function failureState(failure: Failure, actions: readonly HTMLElement[]): HTMLElement {
  const { title, text, fields } = failure
  return h(
    'div',
    { class: 'state failed' },
    icon('warning'),
    h('h2', {}, title),
    h('p', {}, text),
    fields.map((field) => h('p', { dir: 'auto' }, field)),
    actionRow(actions),
    failureDetails(failure),
  )
}
