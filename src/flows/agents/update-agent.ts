import * as z from 'zod'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { isObject } from '../../json/is-object.ts'
import { Refused } from '../../mcp/call/refused.ts'
import type { Run, Steps, ToolOutcome } from '../../mcp/call/tool.ts'
import { accountReader } from '../checks/account-reader.ts'
import { checkNewCatalogValues } from '../checks/catalog-check.ts'
import { checkNewGreeting } from '../checks/greeting-check.ts'
import { ignoredFields, patchBetween, shortJson, wantedFields } from './agent-patch.ts'
import { bringBackChange, bringBackResult, bringBackWarnings } from './bring-back.ts'
import { changesBetween, type FieldChange, type Fields, sameFieldsOf } from './field-changes.ts'

const options = {
  dry_run: z.boolean().optional().describe('true: show the changes, save nothing.'),
  expected_modified: z
    .string()
    .optional()
    .describe("The agent's modified as you read it; refused if changed since."),
}

const schema = z.object({
  agent_id: z.string().describe('Agent id.'),
  name: z.string().nullable().describe('Its name.'),
  applied: z.boolean().describe('False: nothing was saved.'),
  modified: z.string().nullable().describe('When it last changed.'),
  changes: z
    .array(
      z.object({
        field: z.string().describe('Dotted path.'),
        before: z.unknown().optional().describe('Value before; absent: there was none.'),
        after: z.unknown().optional().describe('Value after; absent: there is none.'),
      }),
    )
    .describe('What differs, field by field.'),
  warnings: z.array(z.string()).describe('What may be a mistake.'),
})

type UpdateRun = Run<typeof routes.agents.update, typeof options>

/**
 * Updates an agent without losing a field: reads it, merges the change into it at every depth,
 * checks what is new, and sends only the parts that differ. Another client may still write between
 * reading and writing: the platform has no way to prevent that.
 */
export const updateAgentSteps: Steps<typeof routes.agents.update, typeof options> = {
  options,
  schema,
  async run(run) {
    const { request, session, signal, options: given } = run
    const { params } = request
    const stored = await session.client.call(routes.agents.get, { params, query: {} }, signal)
    refuseIfChanged(stored, given.expected_modified)
    const plan = planOf(stored, run)
    if (!plan.bringsBack && plan.changes.length === 0)
      return outcomeOf(stored, { applied: false, changes: [], warnings: plan.missing })
    const warnings = [...plan.missing, ...(await warningsFor(stored, plan.wanted, run))]
    return given.dry_run
      ? outcomeOf(stored, { applied: false, changes: plan.changes, warnings })
      : save(stored, { ...plan, warnings }, run)
  },
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
  /** `is_archived: false` is to be sent. */
  readonly bringsBack: boolean
}

function planOf(stored: Agent, { body, cleared }: UpdateRun): UpdatePlan {
  const { is_archived, ...fields } = body
  const { wanted, missing } = wantedFields(stored, { body: fields, cleared })
  const bringsBack = is_archived === false
  const changes = [
    ...changesBetween(sameFieldsOf(stored, wanted), wanted),
    ...(bringsBack ? bringBackChange(stored) : []),
  ]
  return { wanted, changes, missing, bringsBack }
}

/** Checks what is new. What is stored already is no mistake of this request. */
async function warningsFor(stored: Fields, wanted: Fields, run: UpdateRun): Promise<string[]> {
  const reader = accountReader(run)
  const isGreetingStored = greetingOf(wanted) === greetingOf(stored)
  const [catalogs, greeting] = await Promise.all([
    checkNewCatalogValues(wanted, reader, stored),
    isGreetingStored ? [] : checkNewGreeting(wanted.initial_message, reader),
  ])
  return [...catalogs, ...greeting]
}

const greetingOf = ({ initial_message: message }: Fields): unknown =>
  isObject(message) ? message.message : undefined

async function save(
  stored: Agent,
  plan: UpdatePlan & { readonly warnings: readonly string[] },
  run: UpdateRun,
): Promise<ToolOutcome> {
  const { wanted, bringsBack } = plan
  const { params } = run.request
  const body = { ...patchBetween(stored, wanted), ...(bringsBack && { is_archived: false }) }
  const sent = { params, query: {}, body }
  const updated = await run.session.client.call(routes.agents.update, sent, run.signal)
  const back = bringsBack ? await bringBackResult(updated, run) : undefined
  const backChanges = back === undefined ? [] : bringBackChange(stored)
  const hasOtherChanges = plan.changes.length > backChanges.length
  return outcomeOf(updated, {
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
  })
}

/** An agent without the fields that are reported by other means. */
const comparable = ({ modified: _, is_archived: __, ...agent }: Agent): Fields => agent

interface UpdateReport {
  readonly applied: boolean
  readonly changes: readonly FieldChange[]
  readonly warnings: readonly string[]
}

function outcomeOf({ id, name, modified }: Agent, report: UpdateReport): ToolOutcome {
  const agent = `agent ${name ? `${name} (${id})` : id}`
  const lines = [
    `${headOf(agent, report)}; modified ${modified ?? 'unknown'}.`,
    // Warnings first: if there are many changes, the last lines are left out.
    ...report.warnings.map((warning) => `Warning: ${warning}`),
    ...report.changes.map(changeLine),
  ]
  return {
    structured: { agent_id: id, name: name ?? null, modified: modified ?? null, ...report },
    lines,
  }
}

/** Replies need not have `is_archived` [R], so its absence says nothing about its value. */
function changeLine({ field, before, after }: FieldChange): string {
  const isUnknown = field === 'is_archived' && before === undefined
  return `${field}: ${isUnknown ? 'unknown' : shortJson(before)} → ${shortJson(after)}`
}

function headOf(agent: string, { applied, changes, warnings }: UpdateReport): string {
  if (applied) return `Updated ${agent}`
  if (changes.length > 0) return `Dry run, nothing saved: ${agent} would change`
  const isIgnored = bringBackWarnings['still archived'].some((one) => warnings.includes(one))
  return isIgnored
    ? `Nothing changed: the platform did not bring back ${agent}`
    : `Nothing to change: ${agent} has these values already`
}
