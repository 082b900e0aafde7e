import { type Scope, scopes } from '../../session/credential.ts'
import type { ExposableTool, Exposure } from './exposure.ts'

/** The scope that an access token must have for a tool. */
export const scopeOf = ({ effect }: Pick<ExposableTool, 'effect'>): Scope => {
  if (effect === 'reads') return 'read'
  return effect === 'bills' ? 'call' : 'write'
}

/** The scopes that some of these tools need. */
export const scopesOf = (tools: readonly Pick<ExposableTool, 'effect'>[]): readonly Scope[] => {
  const needed = new Set(tools.map(scopeOf))
  return scopes.filter((scope) => needed.has(scope))
}

/** Restricts an exposure to the tools that an access token allows; none may be left. */
export function scopedExposure<T extends ExposableTool>(
  exposure: Exposure<T>,
  allowed: readonly Scope[],
): Exposure<T> {
  const refused = exposure.tools.filter((tool) => !allowed.includes(scopeOf(tool)))
  if (refused.length === 0) return exposure
  const reasons = refused.map(
    (tool) => [tool.name, `this access token, which has no scope ${scopeOf(tool)}`] as const,
  )
  return {
    all: exposure.all,
    tools: exposure.tools.filter((tool) => !refused.includes(tool)),
    hidden: new Map([...exposure.hidden, ...reasons]),
  }
}
