import type { Route } from '../../contract/route.ts'

/** The annotations of a tool, as the protocol defines each of them. */
export function annotationsOf(
  title: string,
  { method, openWorld }: Route,
  effect: Route['effect'],
) {
  return {
    title,
    readOnlyHint: effect === 'reads',
    // False means "only additive updates": a PATCH overwrites, and a call cannot be undone.
    destructiveHint: effect === 'destroys' || effect === 'bills' || method === 'PATCH',
    idempotentHint: effect === 'reads' || method === 'PATCH' || method === 'DELETE',
    openWorldHint: openWorld,
  }
}
