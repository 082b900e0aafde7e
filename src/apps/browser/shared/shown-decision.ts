import * as z from 'zod/mini'
import { decisionMetaKey } from '../../decision-meta.ts'
import type { Failure } from './failure.ts'
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

/** The decision that a result asks for. */
export function decisionIn({ structuredContent, _meta }: ToolResult): Decision | undefined {
  const { data } = Confirmation.safeParse(structuredContent?.confirmation)
  return data && { ...data, answerable: Answerable.safeParse(_meta?.[decisionMetaKey]).data }
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
