import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, failureText, ignoreApiError } from '../../src/platform/failure.ts'
import { driftedFields } from '../../src/platform/reply-drift.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import {
  countedInDialog,
  dialogText,
  joinDialogTexts,
  quoted,
  quotedUpTo,
} from '../../src/text/dialog-text.ts'
import { isObject } from '../../src/text/json.ts'
import { accountForPerson } from '../../src/tool/account-reader.ts'
import { unlistedOption } from '../../src/tool/checks/catalog-check.ts'
import { isArchived } from '../../src/tool/checks/readiness.ts'
import { confirmOption } from '../../src/tool/confirmation.ts'
import { confirmationShape, valuesOf } from '../../src/tool/confirmation-question.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  changesBetween,
  type FieldChange,
  type Fields,
  fieldsNamedIn,
  pathsBetween,
} from '../../src/tool/field-changes.ts'
import type { ItemSelection } from '../../src/tool/item-selection.ts'
import type { ListEdit } from '../../src/tool/list-edits.ts'
import { badArgument, Refused } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'
import {
  type ItemRecording,
  type UpdateReport,
  updateItems,
  updateOptions,
} from '../../src/tool/update-items.ts'
import { agentListEdits, listEditArguments, wantedLists } from './agent-list-edits.ts'
import { selectAgents, selectionOptions } from './agent-selection.ts'
import {
  type AgentStates,
  ignoredFields,
  lostFields,
  patchBetween,
  type UpdatePlan,
  undoPlan,
  wantedFields,
} from './agent-update-plan.ts'
import { absentInstructions, type NewValueChecks, newValueChecks } from './agent-value-checks.ts'
import { agentsInResult, updatedAgentsShape } from './update-agent-result.ts'

const options = {
  ...selectionOptions,
  ...listEditArguments,
  ...updateOptions,
  expected_modified: z
    .string()
    .optional()
    .describe('Its modified as you read it; refused if changed since.'),
  ...unlistedOption,
  ...confirmOption,
}

type UpdateRun = Run<typeof routes.agents.update, typeof options>

/** Updates one agent, or the same fields of many agents. */
export const updateAgent = defineTool({
  name: 'update_agent',
  title: 'Change agents',
  description:
    'Changes agents. Only the given fields change (those of create_agent), nested ones too.',
  route: routes.agents.update,
  listing: {
    hidden: ['with_tag', 'add_tags', 'remove_tags'],
    describedElsewhere: ['where', 'add', 'remove'],
    typesOnly: [
      ...Object.keys(routes.agents.create.body.shape).filter((name) => name !== 'tags'),
      'dry_run',
    ],
  },
  view: 'agent',
  options,
  absent: absentInstructions,
  changes: [...Object.keys(listEditArguments), 'undo'],
  schema: z.object({ ...updatedAgentsShape, ...confirmationShape }).partial(),
  hasTimeLimit: true,
  reportsProgress: true,
  async run(run) {
    const {
      options,
      request: { body },
    } = run
    const edits = agentListEdits(options, body)
    // A voice or a model may belong to one account, so each account has its own checks.
    const checks = new Map<string, NewValueChecks>()
    const checksOf = (own: UpdateRun) => {
      const account = accountIn(own.request)
      const known = checks.get(account) ?? newValueChecks(own, options.allow_unlisted)
      checks.set(account, known)
      return known
    }
    return updateItems<Agent, UpdateRun>(run, {
      ...{ kind: 'agent', noun: 'agent', list: 'agents' },
      async select() {
        const selected = await selectAgents(options, run)
        if ('oneId' in selected) return selected
        if (options.expected_modified !== undefined)
          throw badArgument('expected_modified', 'belongs to one agent: give it with agent_id')
        await confirmGreeting(selected, run, checksOf(run))
        return selected
      },
      update: (id, own, recording) =>
        updateOneAgent(id, own, { edits, checks: checksOf(own), ...recording }),
      ...agentsInResult(body),
    })
  },
})

/** Maximum number of agents named in a question. The rest is counted. */
const maxNamed = 20

/**
 * Asks for confirmation before several agents get a greeting that has variables without a value.
 * Throws NotConfirmed and Refused.
 */
async function confirmGreeting(
  { items }: ItemSelection,
  run: UpdateRun,
  checks: NewValueChecks,
): Promise<void> {
  const greeting = run.request.body.initial_message
  if (typeof greeting?.message !== 'string' || items.length < 2 || run.options.dry_run) return
  const { message } = greeting
  const { unknown } = await checks.greeting(greeting)
  if (unknown.length === 0) return
  const names = items.slice(0, maxNamed).map(({ given }) => quoted(given))
  const more = items.length - names.length
  await run.confirm(async () => ({
    kind: 'speaks',
    question: dialogText`Save a greeting with unknown variables for ${countedInDialog(items.length, dialogText`agent`)}?`,
    facts: {
      'Unknown variables': quotedUpTo(unknown.join(', '), 500),
      Agents: dialogText`${joinDialogTexts(names, ', ')}${more > 0 ? dialogText` and ${more} more` : dialogText``}`,
      Account: await accountForPerson(run),
      ...(run.session.undoLog && { Undo: dialogText`update_agent with the undo of the result.` }),
    },
    values: valuesOf('initial_message', { message }),
    scope: items.map((item) =>
      'id' in item ? `${item.account?.id ?? ''} ${item.id}` : item.given,
    ),
  }))
}

interface AgentUpdate extends ItemRecording {
  readonly edits: readonly ListEdit[]
  readonly checks: NewValueChecks
}

/**
 * Updates an agent without losing fields: reads it, merges the changes at every depth, checks new
 * values, and sends only what differs. A changed part of a merged object is sent with its
 * `provider`. Fields that the platform drops from a merged object are restored once, with a
 * warning. The platform has no conditional update, so another client may write between read and
 * write. Throws Refused and ApiError.
 */
async function updateOneAgent(
  agentId: string,
  run: UpdateRun,
  { edits, checks, recorder, undonePaths }: AgentUpdate,
): Promise<UpdateReport<Agent>> {
  const { request, session, signal, options: given } = run
  const params = { ...request.params, agent_id: agentId }
  const stored = await session.client.call(routes.agents.get, { params, query: {} }, signal)
  refuseIfChanged(stored, given.expected_modified)
  const plan = undonePaths
    ? undoPlan(stored, undonePaths)
    : await checkedPlan(stored, run, { edits, checks })
  const { changes, warnings, missing, isUndo = false } = plan
  return given.dry_run || (!plan.unarchives && changes.length === 0)
    ? { item: stored, applied: false, changes, warnings, missing, isIgnored: false, isUndo }
    : save(stored, plan, { run: { session, signal, request: { params, query: {} } }, recorder })
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

/**
 * Plans the update and checks only its new values: stored values are not this request's mistake.
 * Throws Refused and ApiError.
 */
async function checkedPlan(
  stored: Agent,
  { request: { body }, cleared }: UpdateRun,
  { edits, checks }: Pick<AgentUpdate, 'edits' | 'checks'>,
): Promise<UpdatePlan> {
  const { is_archived, ...fields } = body
  const unarchives = is_archived === false
  const edited = wantedLists(stored, edits, fields)
  const merged = wantedFields(stored, { body: edited.body, cleared })
  const isGreetingStored = greetingOf(merged.wanted) === greetingOf(stored)
  const [{ wanted, warnings }, greeting] = await Promise.all([
    checks.catalogValues(merged.wanted, stored),
    isGreetingStored ? undefined : checks.greeting(merged.wanted.initial_message),
  ])
  const changes = [
    ...changesBetween(fieldsNamedIn(wanted, stored), wanted),
    ...(unarchives ? unarchiveChange(stored) : []),
  ]
  const found = [...warnings, ...(greeting?.warnings ?? [])]
  const all = [...merged.warnings, ...edited.warnings, ...found]
  return { wanted, cleared, changes, warnings: all, missing: edited.missing, unarchives }
}

const greetingOf = ({ initial_message: message }: Fields): unknown =>
  isObject(message) ? message.message : undefined

type SavingRun = Pick<Run, 'request' | 'session' | 'signal'>

async function save(
  stored: Agent,
  plan: UpdatePlan,
  { run, recorder }: { readonly run: SavingRun } & Pick<ItemRecording, 'recorder'>,
): Promise<UpdateReport<Agent>> {
  const { wanted, unarchives } = plan
  const body = { ...patchBetween(stored, wanted), ...(unarchives && { is_archived: false }) }
  const { client } = run.session
  const archivedPath = unarchives ? [{ path: ['is_archived'], before: true, after: false }] : []
  const { updated, warnings: putBack } = await recorder.send(
    {
      request: run.request,
      id: stored.id,
      unread: driftedFields(stored),
      paths: [...pathsBetween(fieldsNamedIn(wanted, stored), wanted), ...archivedPath],
      name: stored.name,
    },
    async () => {
      const reply = await client.call(routes.agents.update, { ...run.request, body }, run.signal)
      return withLostFields({ stored, wanted, updated: reply }, body, run)
    },
    ({ updated }) => [...pathsBetween(comparable(stored), comparable(updated)), ...archivedPath],
  )
  const outcome = unarchives ? await unarchiveOutcome(updated, run) : undefined
  const ignored = outcome === 'still archived' ? unarchiveChange(stored) : []
  return {
    item: updated,
    missing: plan.missing,
    applied: plan.changes.length > ignored.length,
    isIgnored: outcome === 'still archived',
    changes: [
      ...changesBetween(comparable(stored), comparable(updated)),
      ...(outcome === 'active' ? unarchiveChange(stored) : []),
    ],
    warnings: [
      ...plan.warnings,
      ...putBack,
      ...ignoredFields({ stored, wanted, updated }, plan.cleared),
      ...(outcome ? unarchiveWarnings[outcome] : []),
    ],
  }
}

/**
 * Sends a second PATCH that restores fields dropped by the first, and returns the agent. The second
 * PATCH ignores cancellation, because without it the agent would stay without these fields.
 */
async function withLostFields(
  states: AgentStates & { readonly updated: Agent },
  sent: Fields,
  { request, session }: SavingRun,
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

/** The agent without `modified` and `is_archived`, which results report separately. */
const comparable = ({ modified: _, is_archived: __, ...agent }: Agent): Fields => agent

/*
 * `is_archived: false` unarchives an agent. The platform's reference does not list this field, and
 * replies may lack it. So the field is sent whatever the reply shows, and the lists of agents then
 * show the outcome.
 */

/** The change to report. Its previous value is known only if the reply has `is_archived`. */
const unarchiveChange = ({ is_archived: before }: Agent): FieldChange[] =>
  before === false ? [] : [{ field: 'is_archived', before: before ?? undefined, after: false }]

/** State of the agent in the platform's lists after `is_archived: false` was sent. */
type UnarchiveOutcome = 'active' | 'still archived' | 'not known'

async function unarchiveOutcome(
  agent: Agent,
  { request, session, signal }: SavingRun,
): Promise<UnarchiveOutcome> {
  const account_id = accountIn(request)
  const archived = await isArchived(agent, (query) =>
    session.client.call(routes.agents.list, { params: { account_id }, query }, signal),
  )
    // The update succeeded: an unreadable list must not turn it into a failure.
    .catch(ignoreApiError)
  if (archived === undefined) return 'not known'
  return archived ? 'still archived' : 'active'
}

const unarchiveWarnings: Readonly<Record<UnarchiveOutcome, readonly string[]>> = {
  active: [],
  'still archived': ['is_archived: the platform ignored it; the agent is still archived'],
  'not known': [
    'is_archived: it was sent, but the platform does not show whether the agent is back',
  ],
}
