import { type Scope, scopes } from '../platform/sessions/credential.ts'
import type { ExposableTool, Exposure } from './exposure.ts'
import { toolCallsIn } from './request-exposure.ts'

/** The scope that an access token must have for a tool. */
const scopeOf = ({ effect }: Pick<ExposableTool, 'effect'>): Scope => {
  if (effect === 'reads') return 'read'
  return effect === 'bills' ? 'call' : 'write'
}

export const scopesOf = (tools: readonly Pick<ExposableTool, 'effect'>[]): readonly Scope[] => {
  const needed = new Set(tools.map(scopeOf))
  return scopes.filter((scope) => needed.has(scope))
}

/** Cache of exposures restricted by scopes. */
const scoped = new WeakMap<Exposure, Map<string, Exposure>>()

/**
 * Restricts an exposure to the tools that an access token allows, which may be none. `allowed` is
 * `undefined` for an API key, which allows all. Tools that place calls stay listed (`grantable`)
 * without their scope: a client asks its user for the scope only when such a tool is called, and
 * the consent page leaves the scope unticked by default, so its absence is no refusal.
 */
export function scopedExposure(
  exposure: Exposure,
  allowed: readonly Scope[] | undefined,
): Exposure {
  if (!allowed) return exposure
  const byScopes = scoped.get(exposure) ?? new Map<string, Exposure>()
  scoped.set(exposure, byScopes)
  const key = scopes.filter((scope) => allowed.includes(scope)).join(' ')
  const known = byScopes.get(key)
  if (known) return known
  const within = withinScopes(exposure, allowed)
  byScopes.set(key, within)
  return within
}

function withinScopes(exposure: Exposure, allowed: readonly Scope[]): Exposure {
  const refused = exposure.tools.filter((tool) => !allowed.includes(scopeOf(tool)))
  if (refused.length === 0) return exposure
  const reasons = refused.map(
    (tool) => [tool.name, `this access token, which has no scope ${scopeOf(tool)}`] as const,
  )
  return {
    all: exposure.all,
    tools: exposure.tools.filter((tool) => !refused.includes(tool)),
    hidden: new Map([...exposure.hidden, ...reasons]),
    grantable: refused.filter((tool) => scopeOf(tool) === 'call'),
  }
}

/**
 * Returns the scopes that a client must request for a message or batch, if its access token lacks
 * one; otherwise `undefined`. Changing and calling include reading, to find their target. The
 * token's own scopes are included, because clients of the 2025 revisions request exactly the
 * returned scopes.
 */
export function missingScopes(
  message: unknown,
  exposure: Exposure,
  allowed: readonly Scope[] | undefined,
): readonly Scope[] | undefined {
  if (!allowed) return undefined
  const needed = toolCallsIn(message, exposure).map(({ tool }) => scopeOf(tool))
  const refused = needed.filter((scope) => !allowed.includes(scope))
  return refused.length === 0
    ? undefined
    : scopes.filter((scope) => scope === 'read' || [...allowed, ...refused].includes(scope))
}
