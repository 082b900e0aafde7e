import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { clearablePaths, isClearable } from '../../src/tool/clear-argument.ts'
import { cannotBeUnset, changesOf, takenBack, withPaths } from '../../src/tool/field-changes.ts'
import type { KeptObject, KeptPath } from '../../src/tool/undo.ts'
import { mergedByPlatform, type UpdatePlan } from './agent-patch.ts'

const archived = 'is_archived'

/**
 * Plans an undo: restores the earlier values of an agent, except for values that have changed again
 * since.
 */
export function undoPlan(stored: Agent, { paths }: KeptObject): UpdatePlan {
  const fields = paths.filter(({ path: [name] }) => name !== archived)
  const { back, notes } = takenBack(stored, fields)
  const nulled = back.filter((change) => isNulled(change, back))
  const stuck = nulled.filter(({ path }) => !isClearable({ route, clearable }, path.join('.')))
  const possible = back.filter((change) => !stuck.includes(change))
  const wanted = withPaths(
    stored,
    possible.map((change) => (nulled.includes(change) ? { ...change, after: null } : change)),
  )
  return {
    wanted,
    changes: changesOf(possible),
    cleared: nulled.map(({ path }) => path.join('.')),
    warnings: [
      ...notes,
      ...stuck.map(cannotBeUnset),
      ...archivingNotes(stored, fields.length < paths.length),
    ],
    missing: [],
    bringsBack: false,
    isUndo: true,
  }
}

const route = routes.agents.update
const clearable = clearablePaths(route, undefined)

/**
 * True if null must be sent to undo an added value: null removes a whole field, or a setting in a
 * merged object. Not for settings of an object whose provider the undo changes: the earlier
 * provider may not have them.
 */
const isNulled = ({ path: [name = '', ...inner], after }: KeptPath, all: readonly KeptPath[]) =>
  after === undefined &&
  (inner.length === 0 ||
    (mergedByPlatform.includes(name) &&
      !all.some(({ path }) => path[0] === name && path[1] === 'provider')))

function archivingNotes({ is_archived }: Agent, wasBroughtBack: boolean): string[] {
  if (is_archived) return wasBroughtBack ? [] : ['the agent was archived since, and stays so']
  return wasBroughtBack ? ['is_archived: archive_agent archives it again'] : []
}
