import * as z from 'zod/mini'
import { plainText } from '../../../text/safe-text.ts'
import { decisionMetaKey } from '../../views.ts'
import { plainFacts } from './decision-facts.ts'
import { type Failure, failureOf, isError } from './failure.ts'
import type { ToolResult } from './host.ts'

/** An action that was not confirmed, in place of a tool's result (docs/calls.md#confirmation). */
const Confirmation = z.object({
  state: z.string(),
  question: z.string(),
  facts: z.catchall(z.object({}), z.string()),
})

/** Token in a result's `_meta` with which the view can answer, and its expiry. */
const Answerable = z.object({
  tool: z.string(),
  confirm_token: z.string(),
  expires_at: z.string(),
  refused: z.optional(z.string()),
  is_done: z.optional(z.boolean()),
})

export interface Decision extends z.output<typeof Confirmation> {
  /** Absent if the result has no token, so that the view cannot answer. */
  readonly answerable: z.output<typeof Answerable> | undefined
}

/** The decision that a result asks for, without control and invisible characters. */
export function decisionIn({ structuredContent, _meta }: ToolResult): Decision | undefined {
  const { data } = Confirmation.safeParse(structuredContent?.confirmation)
  if (!data) return undefined
  return {
    ...data,
    question: plainText(data.question),
    facts: plainFacts(data.facts),
    answerable: Answerable.safeParse(_meta?.[decisionMetaKey]).data,
  }
}

/**
 * - `open`: the buttons are shown
 * - `declined`: the person said no
 * - `expired`: the token expired; what happened was not checked
 * - `used`: the person or the model agreed earlier; what happened was not checked
 * - `lost`: the person agreed, and no answer says whether it was done
 * - `refused`: the person agreed, and the server did nothing
 * - `not_done`, `done`, `unknown`: what the server found out
 */
export type Step =
  | 'open'
  | 'declined'
  | 'expired'
  | 'used'
  | 'lost'
  | 'refused'
  | 'not_done'
  | 'done'
  | 'unknown'

/** A decision as the view shows it. */
export interface ShownDecision {
  readonly decision: Decision
  readonly step: Step
  /** The pending request: the person's agreement, or a check, which changes nothing. */
  readonly pending?: 'agree' | 'check'
  /** The facts shown before the last answer, if the server says that they changed since. */
  readonly before?: Decision['facts'] | undefined
  /** Why the last request failed. */
  readonly failure?: Failure
  /** The failed request was a check. */
  readonly isCheckFailed?: boolean
  /** The person may have agreed: here, in an earlier view of the conversation, or with a lost answer. */
  readonly isAgreed: boolean
  /** The server found that nothing was done, and that the decision is still open. */
  readonly isFoundOpen?: boolean
}

/** Lifetime of a view's token on the server, ms. */
export const lifetimeMs = 660_000
/** Maximum age of a new token, ms. An older one may have been used before the view was reopened. */
const freshMs = 15_000

/** Time until the token expires, ms. */
export const msLeft = ({ expires_at }: NonNullable<Decision['answerable']>) =>
  Date.parse(expires_at) - Date.now()

/** True if the token has expired. */
export const isOver = ({ answerable }: Decision) =>
  answerable !== undefined && msLeft(answerable) <= 0

/** True if an earlier view may have used the token. */
export const isOld = ({ answerable }: Decision) =>
  answerable !== undefined && msLeft(answerable) < lifetimeMs - freshMs

/** Step after the server answered a request with a question, which has a new token. */
export function stepAfter(
  { step, pending, isAgreed }: ShownDecision,
  { answerable }: Decision,
  isWithoutCalls: boolean,
): Step {
  const { is_done: isDone, refused = step === 'used' ? 'used' : undefined } = answerable ?? {}
  if (isDone) return 'done'
  // A token that is still valid was not used.
  if (refused === undefined || refused === 'changed') return 'open'
  if (isDone === false) return 'not_done'
  // The server forgets a use some time after the token has expired.
  if (refused === 'expired')
    return isWithoutCalls || (pending === 'agree' && !isAgreed) ? 'not_done' : 'unknown'
  return refused === 'unknown' && !isAgreed ? 'open' : 'unknown'
}

/** Step after an error in answer to a request. */
export function stepAfterError(
  { pending, step, decision }: ShownDecision,
  result: ToolResult,
): Step {
  if (pending === 'agree') return failureOf(result).isNothingDone ? 'refused' : 'lost'
  // What was to be deleted is gone.
  if (isError(result, 'not_found') && decision.answerable?.tool.startsWith('delete_')) return 'done'
  // Nothing waits for an answer, which does not say whether it was done.
  if (isError(result, 'conflict')) return 'unknown'
  // The check failed. In the step `open` it was the check of a view that is opened again.
  return step === 'open' ? 'lost' : step
}
