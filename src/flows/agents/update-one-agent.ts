import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { isObject } from '../../json/is-object.ts'
import { Refused } from '../../mcp/call/refused.ts'
import { changesBetween, type FieldChange, type Fields, sameFieldsOf } from '../field-changes.ts'
import { ignoredFields, patchBetween, wantedFields } from './agent-patch.ts'
import { bringBackChange, bringBackResult, bringBackWarnings } from './bring-back.ts'
import type { NewValueChecks } from './new-value-checks.ts'
import { wantedTags } from './tag-changes.ts'
import type { UpdateRun } from './update-options.ts'

/** What an update did to one agent, or would do. */
export interface UpdateReport {
  /** The agent afterwards. */
  readonly agent: Agent
  /** False: nothing was saved. */
  readonly applied: boolean
  readonly changes: readonly FieldChange[]
  readonly warnings: readonly string[]
  /** Tags to remove that the agent did not have. */
  readonly missingTags: readonly string[]
}

/**
 * Updates an agent without losing a field: reads it, merges the change into it at every depth,
 * checks what is new, and sends only the parts that differ. Another client may still write between
 * reading and writing: the platform has no way to prevent that. Throws Refused and ApiError.
 */
export async function updateOneAgent(
  agentId: string,
  run: UpdateRun,
  checks: NewValueChecks,
): Promise<UpdateReport> {
  const { request, session, signal, options: given } = run
  const params = { ...request.params, agent_id: agentId }
  const stored = await session.client.call(routes.agents.get, { params, query: {} }, signal)
  refuseIfChanged(stored, given.expected_modified)
  const plan = planOf(stored, run)
  const { missingTags } = plan
  if (!plan.bringsBack && plan.changes.length === 0)
    return { agent: stored, applied: false, changes: [], warnings: plan.missing, missingTags }
  const warnings = [...plan.missing, ...(await warningsFor(stored, plan.wanted, checks))]
  return given.dry_run
    ? { agent: stored, applied: false, changes: plan.changes, warnings, missingTags }
    : save(stored, { ...plan, warnings }, { ...run, request: { params, query: {} } })
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
  /** Warnings about metadata keys to clear that do not exist. */
  readonly missing: readonly string[]
  readonly missingTags: readonly string[]
  /** `is_archived: false` is to be sent. */
  readonly bringsBack: boolean
}

function planOf(stored: Agent, { body, cleared, options }: UpdateRun): UpdatePlan {
  const { is_archived, ...fields } = body
  const { tags, missing: missingTags } = wantedTags(stored, options)
  const withTags = tags ? { ...fields, tags } : fields
  const { wanted, missing } = wantedFields(stored, { body: withTags, cleared })
  const bringsBack = is_archived === false
  const changes = [
    ...changesBetween(sameFieldsOf(stored, wanted), wanted),
    ...(bringsBack ? bringBackChange(stored) : []),
  ]
  return { wanted, changes, missing, missingTags, bringsBack }
}

/** Checks what is new. What is stored already is no mistake of this request. */
async function warningsFor(
  stored: Fields,
  wanted: Fields,
  checks: NewValueChecks,
): Promise<string[]> {
  const isGreetingStored = greetingOf(wanted) === greetingOf(stored)
  const [catalogs, greeting] = await Promise.all([
    checks.catalogValues(wanted, stored),
    isGreetingStored ? [] : checks.greeting(wanted.initial_message),
  ])
  return [...catalogs, ...greeting]
}

const greetingOf = ({ initial_message: message }: Fields): unknown =>
  isObject(message) ? message.message : undefined

async function save(
  stored: Agent,
  plan: UpdatePlan & { readonly warnings: readonly string[] },
  run: UpdateRun,
): Promise<UpdateReport> {
  const { wanted, bringsBack } = plan
  const body = { ...patchBetween(stored, wanted), ...(bringsBack && { is_archived: false }) }
  const sent = { ...run.request, body }
  const updated = await run.session.client.call(routes.agents.update, sent, run.signal)
  const back = bringsBack ? await bringBackResult(updated, run) : undefined
  const backChanges = back === undefined ? [] : bringBackChange(stored)
  const hasOtherChanges = plan.changes.length > backChanges.length
  return {
    agent: updated,
    missingTags: plan.missingTags,
    applied: hasOtherChanges || (backChanges.length > 0 && back !== 'still archived'),
    changes: [
      ...changesBetween(comparable(stored), comparable(updated)),
      ...(back === 'active' ? backChanges : []),
    ],
    warnings: [
      ...plan.warnings,
      ...ignoredFields({ stored, wanted, updated }, run.cleared),
      ...(back ? bringBackWarnings[back] : []),
    ],
  }
}

/** An agent without the fields that are reported by other means. */
const comparable = ({ modified: _, is_archived: __, ...agent }: Agent): Fields => agent
