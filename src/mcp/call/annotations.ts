import type { Route } from '../../contract/route.ts'

/** The hints of a tool, each true to the protocol's definition of it. */
export function annotationsOf(
  title: string,
  { method, openWorld }: Route,
  effect: Route['effect'],
) {
  return {
    title,
    readOnlyHint: effect === 'reads',
    // "Only additive updates" is what false means: a PATCH overwrites, a call cannot be taken back.
    destructiveHint: effect === 'destroys' || effect === 'bills' || method === 'PATCH',
    idempotentHint: effect === 'reads' || method === 'PATCH' || method === 'DELETE',
    openWorldHint: openWorld,
  }
}
