import * as z from 'zod'
import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { type FailedAccounts, severalAccountsShape } from '../lists/several-accounts.ts'
import { countsOf, outcomeShape, repeatedLines } from '../many/outcomes-in-words.ts'
import { updateOutcomes } from '../many/update-outcomes.ts'
import type { SelectedMany } from './agent-selection.ts'
import { changesInWords } from './changes-in-words.ts'
import type { AgentOutcome } from './each-agent.ts'
import { failedLines, failedShown, tagLines } from './selection-notes.ts'
import { missingTagWarnings, tagsOf } from './tag-changes.ts'
import type { UpdateReport } from './update-one-agent.ts'
import { UpdatedAgent, updatedAgent } from './updated-agent.ts'

/** The result for many agents. */
export const updatesResultShape = {
  ...outcomeShape.result,
  ...severalAccountsShape.result,
  agents: z.array(UpdatedAgent).describe('Many agents, in the order given.'),
}

interface UpdatesFacts {
  readonly repeated: readonly string[]
  readonly failed: readonly FailedAccounts[]
  readonly isDryRun: boolean
  readonly argument: SelectedMany['argument']
  /** Agents of subaccounts are meant, too. */
  readonly isTree: boolean | undefined
}

export function updatesResult(
  outcomes: readonly AgentOutcome<UpdateReport>[],
  { repeated, failed, isDryRun, argument, isTree }: UpdatesFacts,
): ToolOutcome {
  const agents = outcomes.map(updatedAgent)
  const { summary, text } = countsOf(agents, updateOutcomes, 'agent')
  return {
    structured: { summary, ...failedShown(failed), agents: withChangesOnce(agents) },
    lines: [
      `${isDryRun ? 'Dry run, nothing saved. ' : ''}${text}`,
      ...failedLines(failed),
      ...repeatedLines(repeated),
      ...tagsOfNone(outcomes),
      ...changesInWords(agents),
      ...tagLines(argument, isTree),
    ],
  }
}

/** Warnings about tags to remove that no agent had: that some do not have them is no mistake. */
function tagsOfNone(outcomes: readonly AgentOutcome<UpdateReport>[]): string[] {
  const reports = outcomes.flatMap(({ outcome }) => (outcome.state === 'done' ? outcome.value : []))
  const known = [...new Set(reports.flatMap(({ agent }) => tagsOf(agent)))]
  const [first = [], ...others] = reports.map(({ missingTags }) => missingTags)
  const sets = others.map((missing) => new Set(missing))
  const ofNone = first.filter((tag) => sets.every((missing) => missing.has(tag)))
  return missingTagWarnings(ofNone, known).map((warning) => `Warning: ${warning}`)
}

/** The first of several agents with the same changes has them, the others its place. */
function withChangesOnce(agents: readonly UpdatedAgent[]): UpdatedAgent[] {
  const places = new Map<string, number>()
  return agents.map((agent, at) => {
    const { changes, warnings, ...facts } = agent
    if (!changes && !warnings) return agent
    const key = JSON.stringify([changes, warnings])
    const place = places.get(key)
    if (place !== undefined) return { ...facts, same_as: place }
    places.set(key, at + 1)
    return agent
  })
}
