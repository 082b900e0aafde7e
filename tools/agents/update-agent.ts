import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, failureText } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { isObject } from '../../src/text/json.ts'
import { unlistedOption } from '../../src/tool/checks/catalog-check.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  changesBetween,
  type FieldChange,
  type Fields,
  sameFieldsOf,
} from '../../src/tool/field-changes.ts'
import { forEachSelected, refuseIfNoneDone } from '../../src/tool/many.ts'
import { badArguments, Refused } from '../../src/tool/refused.ts'
import type { Run, ToolOutcome } from '../../src/tool/tool.ts'
import {
  type AgentStates,
  bringBackChange,
  bringBackResult,
  bringBackWarnings,
  ignoredFields,
  lostFields,
  patchBetween,
  refuseContradictingTags,
  refuseUnreadTags,
  tagOptions,
  wantedFields,
  wantedTags,
} from './agent-patch.ts'
import { type AgentSelection, selectAgents, selectionOptions } from './agent-selection.ts'
import { absentInstructions, type NewValueChecks, newValueChecks } from './saved-agent.ts'
import {
  type AgentReport,
  updateResult,
  updateResultShape,
  updatesResult,
  updatesResultShape,
} from './updated-agents.ts'

const updateOptions = {
  ...selectionOptions,
  ...tagOptions,
  dry_run: z.boolean().optional().describe('true: show the changes, save nothing.'),
  expected_modified: z
    .string()
    .optional()
    .describe('Its modified as you read it; refused if changed since.'),
  ...unlistedOption,
}

type UpdateRun = Run<typeof routes.agents.update, typeof updateOptions>

/** Updates one agent, or the same fields of many. */
export const updateAgent = defineTool({
  name: 'update_agent',
  title: 'Change agents',
  description:
    'Changes an agent, or many agents at once. Only the given fields change (those of create_agent), nested ones too. clear empties fields, such as metadata.key.',
  route: routes.agents.update,
  listing: {
    typesOnly: Object.keys(routes.agents.create.body.shape).filter((name) => name !== 'tags'),
  },
  view: 'agent',
  options: updateOptions,
  absent: absentInstructions,
  changes: Object.keys(tagOptions),
  schema: z.object({ ...updateResultShape, ...updatesResultShape }).partial(),
  hasTimeLimit: true,
  reportsProgress: true,
  async run(run) {
    const { options, body } = run
    refuseContradictingTags(options, body)
    const selected = await selectAgents(options, run)
    if ('agentId' in selected)
      return updateResult(
        await updateOneAgent(selected.agentId, run, newValueChecks(run, options.allow_unlisted)),
      )
    if (options.expected_modified !== undefined)
      throw badArguments([
        { argument: 'expected_modified', message: 'belongs to one agent: give it with agent_id' },
      ])
    return updateManyAgents(selected, run)
  },
})

/**
 * Applies the same change to many agents. Changes made before a failure, the time limit or a
 * cancellation persist, and the result lists them; a repeated call finds nothing to change there.
 * Throws Refused and ApiError if nothing was done.
 */
async function updateManyAgents(selection: AgentSelection, run: UpdateRun): Promise<ToolOutcome> {
  // A voice or a model may belong to one account, so each account has its own checks.
  const checks = new Map<string, NewValueChecks>()
  const update = (id: string, own: UpdateRun) => {
    const account = accountIn(own.request)
    const ofAccount = checks.get(account) ?? newValueChecks(own, own.options.allow_unlisted)
    checks.set(account, ofAccount)
    return updateOneAgent(id, own, ofAccount)
  }
  const outcomes = await forEachSelected(selection.items, 'agent_id', update, run)
  refuseIfNoneDone(outcomes, selection.argument)
  return updatesResult(outcomes, selection, run.options)
}

/**
 * Updates an agent without losing a field: reads it, merges the change at every depth, checks new
 * values, and sends only the differing parts, with the `provider` of a merged object. Fields that
 * the platform drops from such an object are restored once, with a warning. A concurrent write
 * between read and write is possible: the platform has no conditional update. Throws Refused and
 * ApiError.
 */
async function updateOneAgent(
  agentId: string,
  run: UpdateRun,
  checks: NewValueChecks,
): Promise<AgentReport> {
  const { request, session, signal, options: given } = run
  const params = { ...request.params, agent_id: agentId }
  const stored = await session.client.call(routes.agents.get, { params, query: {} }, signal)
  refuseIfChanged(stored, given.expected_modified)
  const plan = await planOf(stored, run, checks)
  const { changes, warnings, missingTags } = plan
  return given.dry_run || (!plan.bringsBack && changes.length === 0)
    ? { agent: stored, applied: false, changes, warnings, missingTags, isIgnored: false }
    : save(stored, plan, { ...run, request: { params, query: {} } })
}

function refuseIfChanged({ modified }: Agent, expected: string | undefined): void {
  if (expected === undefined || isSameInstant(modified, expected)) return
  throw new Refused(
    'conflict',
    `the agent was changed since: modified is ${modified ?? 'unknown'}, not ${expected}; nothing was sent`,
    { next: 'Look at what changed with get_agent, then decide again with its modified.' },
  )
}

const isSameInstant = (one: string | null | undefined, other: string) =>
  one === other || (typeof one === 'string' && Date.parse(one) === Date.parse(other))

interface UpdatePlan {
  /** The fields to change, each with its whole new value. */
  readonly wanted: Fields
  readonly changes: readonly FieldChange[]
  readonly warnings: readonly string[]
  readonly missingTags: readonly string[]
  /** If true, `is_archived: false` is sent. */
  readonly bringsBack: boolean
}

/**
 * Checks only new values: a stored one is not a mistake of this request. Throws Refused and
 * ApiError.
 */
async function planOf(
  stored: Agent,
  { body, cleared, options }: UpdateRun,
  checks: NewValueChecks,
): Promise<UpdatePlan> {
  const { is_archived, ...fields } = body
  const bringsBack = is_archived === false
  refuseUnreadTags(stored, options)
  const { tags, missing: missingTags } = wantedTags(stored, options)
  const withTags = tags ? { ...fields, tags } : fields
  const merged = wantedFields(stored, { body: withTags, cleared })
  const isGreetingStored = greetingOf(merged.wanted) === greetingOf(stored)
  const [{ wanted, warnings }, greeting] = await Promise.all([
    checks.catalogValues(merged.wanted, stored),
    isGreetingStored ? [] : checks.greeting(merged.wanted.initial_message),
  ])
  const changes = [
    ...changesBetween(sameFieldsOf(stored, wanted), wanted),
    ...(bringsBack ? bringBackChange(stored) : []),
  ]
  const all = [...merged.missing, ...warnings, ...greeting]
  return { wanted, changes, warnings: all, missingTags, bringsBack }
}

const greetingOf = ({ initial_message: message }: Fields): unknown =>
  isObject(message) ? message.message : undefined

async function save(stored: Agent, plan: UpdatePlan, run: UpdateRun): Promise<AgentReport> {
  const { wanted, bringsBack } = plan
  const body = { ...patchBetween(stored, wanted), ...(bringsBack && { is_archived: false }) }
  const reply = await run.session.client.call(
    routes.agents.update,
    { ...run.request, body },
    run.signal,
  )
  const { updated, warnings: putBack } = await withLostFields(
    { stored, wanted, updated: reply },
    body,
    run,
  )
  const back = bringsBack ? await bringBackResult(updated, run) : undefined
  const backChanges = back === undefined ? [] : bringBackChange(stored)
  const hasOtherChanges = plan.changes.length > backChanges.length
  return {
    agent: updated,
    missingTags: plan.missingTags,
    applied: hasOtherChanges || (backChanges.length > 0 && back !== 'still archived'),
    isIgnored: back === 'still archived',
    changes: [
      ...changesBetween(comparable(stored), comparable(updated)),
      ...(back === 'active' ? backChanges : []),
    ],
    warnings: [
      ...plan.warnings,
      ...putBack,
      ...ignoredFields({ stored, wanted, updated }, run.cleared),
      ...(back ? bringBackWarnings[back] : []),
    ],
  }
}

/**
 * Restores fields that the first PATCH dropped with a second PATCH, and returns the agent. The
 * second one ignores a cancellation, which would leave the agent without these fields.
 */
async function withLostFields(
  states: AgentStates & { readonly updated: Agent },
  sent: Fields,
  { request, session }: UpdateRun,
): Promise<{ readonly updated: Agent; readonly warnings: readonly string[] }> {
  const { fields, body } = lostFields(states, sent)
  if (fields.length === 0) return { updated: states.updated, warnings: [] }
  const dropped = `${fields.join(', ')}: the platform dropped ${fields.length === 1 ? 'this field' : 'these fields'} with the change`
  try {
    const updated = await session.client.call(routes.agents.update, { ...request, body })
    const missing = lostFields({ ...states, updated }, body).fields.length > 0
    const done = missing ? 'a second request did not put all back' : 'a second request put all back'
    return { updated, warnings: [`${dropped}; ${done}`] }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const why = failureText(error.failure)
    return {
      updated: states.updated,
      warnings: [`${dropped}, and a second request to put it back failed: ${why}`],
    }
  }
}

/** An agent without the fields that are reported separately. */
const comparable = ({ modified: _, is_archived: __, ...agent }: Agent): Fields => agent
