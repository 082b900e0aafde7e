/*
 * Confirmation in a view, for clients that show views but do not support elicitation. The view shows the preview of a
 * telephone call, archiving or deletion with two buttons. To confirm, it repeats the tool call with a token that is
 * only in the result's `_meta`, where no model reads it.
 */

/** Key in a preview's `_meta` under which its view finds a `DecisionMeta`. */
export const decisionMetaKey = 'voice-agent-mcp/decision'

/** Data with which a view confirms the action of a preview. */
export interface DecisionMeta {
  readonly tool: string
  /** Single-use, until `expires_at`. */
  readonly confirm_token: string
  /** ISO 8601. */
  readonly expires_at: string
  /** The token that came with the request was refused; absent for a new question. */
  readonly refused?: RefusedToken
  /** Whether the effect of the action exists now; absent: not known. */
  readonly is_done?: boolean
}

/** Reasons to refuse a token: `changed` means that the arguments or their effect have changed. */
export const refusedTokens = ['used', 'expired', 'changed', 'unknown'] as const
export type RefusedToken = (typeof refusedTokens)[number]

/**
 * Prefix of a token in a request that only reads: it returns what was done, or whether the token is
 * still valid. A reopened view checks before it offers a button.
 */
export const checkPrefix = 'check:'
