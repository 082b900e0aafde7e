import type { Route } from '../../contract/route.ts'

/**
 * The annotations of a tool, as the protocol defines each of them. The title is not repeated here: since
 * the revision of 2025-06-18 a tool has it itself, and older clients show the name.
 */
export function annotationsOf({ method, openWorld }: Route, effect: Route['effect']) {
  return {
    readOnlyHint: effect === 'reads',
    // False means "only additive updates": a PATCH overwrites, and a call cannot be undone.
    destructiveHint: effect === 'destroys' || effect === 'bills' || method === 'PATCH',
    idempotentHint: effect === 'reads' || method === 'PATCH' || method === 'DELETE',
    openWorldHint: openWorld,
  }
}
