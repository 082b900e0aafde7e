import * as z from 'zod'
import { Agent, AgentCreate, AgentUpdate } from '../../src/contract/agent.ts'
import type { RouteRequest } from '../../src/contract/route.ts'
import { routes } from '../../src/contract/routes.ts'
import {
  ApiError,
  failureText,
  ignoreApiError,
  isRejectedWith,
  mayBeDone,
} from '../../src/platform/failure.ts'
import { driftOf } from '../../src/platform/reply-drift.ts'
import { accountIdIn, accountIn } from '../../src/platform/sessions/account.ts'
import { nameWithId } from '../../src/text/labels.ts'
import { accountReader } from '../../src/tool/account-reader.ts'
import {
  catalogParts,
  checkCatalogPart,
  unlistedOption,
} from '../../src/tool/checks/catalog-check.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { type Fields, leavesOf, overlay, valueAt } from '../../src/tool/field-changes.ts'
import { hintFor } from '../../src/tool/references/did-you-mean.ts'
import { idOf } from '../../src/tool/references/names-to-ids.ts'
import { badArgument, Refused } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'
import { absentInstructions, newValueChecks } from './agent-value-checks.ts'
import { createdAgentLines } from './created-agent-summary.ts'

const { name: _, is_archived: __, ...changeable } = AgentUpdate.shape

const options = {
  agent_id: z.string().min(1).describe('Agent id.'),
  name: z.string().min(1).max(50).describe('Name of the copy.'),
  changes: z.object(changeable).optional().describe('Fields to change, as in update_agent.'),
  to_account_id: z.string().min(1).optional().describe('Account of the copy, id or name.'),
  ...unlistedOption,
}

const schema = z.object({
  id: z.string().describe("The copy's id."),
  account_id: z.string().optional().describe('Its account.'),
  name: z.string().describe('Its name.'),
  modified: z.string().nullish().describe('When it last changed.'),
  copied_from: z.string().describe('Id of the original.'),
  saved: z.record(z.string(), z.unknown()).optional().describe('The changes, by dotted path.'),
  warnings: z.array(z.string()).describe('What may be a mistake, and what did not come along.'),
})

type CopyRun = Run<typeof routes.agents.create, typeof options>

/** Copies an agent with changes, within its account or to another. */
export const copyAgent = defineTool({
  name: 'copy_agent',
  title: 'Copy an agent',
  description:
    'Copies an agent with all its settings but those in changes. to_account_id puts the copy in another account. Phone numbers stay with the original.',
  route: routes.agents.create,
  listing: { describedElsewhere: ['changes'] },
  view: 'agent',
  options,
  absent: absentInstructions,
  without: Object.keys(AgentCreate.shape).filter((name) => name !== 'name'),
  schema,
  async run(run) {
    const { name, changes = {} } = run.options
    const original = await readOriginal(run)
    const target = await targetOf(run)
    const { body, warnings } = await checkedCopy(original, target, run)
    const copy = await create({ params: target.params, query: {}, body }, target, run)
    const verb = `Copied ${nameWithId(original.name, original.id)} to`
    return {
      structured: {
        ...{ id: copy.id, name: copy.name ?? name, modified: copy.modified },
        ...{ copied_from: original.id, saved: savedValues(copy, changes), warnings },
      },
      lines: [
        ...createdAgentLines(copy, { verb, given: changes, sent: body, warnings }),
        restInWords(changes),
      ],
      accountId: accountIn(target),
    }
  },
})

/** The changed fields with the values that the platform saved, by dotted path. */
const savedValues = (copy: Agent, changes: Fields) =>
  Object.fromEntries(leavesOf(changes).map((path) => [path, valueAt(copy, path)]))

/** Sentence about the settings that the copy took over unchanged. */
function restInWords(changes: object): string {
  const changed = Object.keys(changes)
  return changed.length > 0
    ? `Changed: ${changed.join(', ')}. Its other settings are those of the original.`
    : 'Its settings are those of the original.'
}

async function readOriginal(run: CopyRun): Promise<Agent> {
  const agent_id = await idOf('agent_id', run.options.agent_id, run)
  const params = { account_id: accountIn(run.request), agent_id }
  return run.session.client.call(routes.agents.get, { params, query: {} }, run.signal)
}

interface Target extends Pick<RouteRequest, 'params'> {
  readonly isOtherAccount: boolean
}

/** The account to create the copy in. Throws Refused and ApiError. */
async function targetOf(run: CopyRun): Promise<Target> {
  const { to_account_id: given } = run.options
  const { session, request } = run
  const { pinnedAccount } = session
  const own = { params: { account_id: accountIn(request) }, isOtherAccount: false }
  if (given === undefined) return own
  if (pinnedAccount !== undefined && given !== pinnedAccount)
    throw badArgument('to_account_id', `this server acts on ${pinnedAccount} only`)
  const params = { account_id: await idOf('account_id', given, run, 'to_account_id') }
  const [from, to] = await Promise.all([
    accountIdIn(request, session),
    accountIdIn({ params }, session),
  ])
  return { params, isOtherAccount: from !== to }
}

/** Creates the copy. Never sends the request twice. Throws Refused and ApiError. */
async function create(
  request: RouteRequest,
  { isOtherAccount }: Target,
  { session, restricted, signal, options: { name } }: CopyRun,
): Promise<Agent> {
  const account = isOtherAccount ? `, account_id ${accountIn(request)}` : ''
  try {
    return await session.client.call(routes.agents.create, request, signal)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const why = failureText(error.failure)
    if (mayBeDone(error))
      throw new Refused(
        'unknown_outcome',
        `it is not known whether the copy was created (${why})`,
        {
          next: `Look for it with list_agents, name ${JSON.stringify(name)}${account}, before you call copy_agent again: a second call creates a second copy.`,
        },
      )
    if (!isOtherAccount || !isRejectedWith(error, 403, 404)) throw error
    const hint = await hintFor('account_id', accountIn(request), request, restricted)
    const message = `${why}. ${hint ?? 'list_subaccounts shows the accounts.'}`
    throw new Refused('bad_arguments', 'the platform refused the account; nothing was created', {
      fields: [{ argument: 'to_account_id', message }],
    })
  }
}

/** Fields that exist only in replies [R]. The copy gets new values. */
const ofReplies = ['id', 'account_id', 'created', 'modified', 'is_archived']

/**
 * Merges the changes into the fields of the original that a new agent accepts. Drops top-level
 * nulls, which mean the default; inside an object null is a value, such as no background sound [R].
 * `left`: fields that a new agent does not accept.
 */
function copiedFields(original: Agent, changes: Fields) {
  const given = Object.entries(original).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  const isTaken = (name: string) => Object.hasOwn(AgentCreate.shape, name)
  const copied = Object.fromEntries(given.filter(([name]) => isTaken(name)))
  const merged = Object.entries(changes).map(([name, change]) => [
    name,
    overlay(copied[name], change),
  ])
  return {
    body: { ...copied, ...Object.fromEntries(merged) },
    left: given.map(([name]) => name).filter((name) => !isTaken(name) && !ofReplies.includes(name)),
  }
}

/**
 * Checks the changed values of a copy. If the copy goes to another account, also checks the copied
 * values, because a voice or a model may belong to one account. Returns the body to send, and
 * warnings. Throws Refused for an invalid changed value.
 */
async function checkedCopy(
  original: Agent,
  { params, isOtherAccount }: Target,
  { session, signal, noteCoercion, options: { name, changes = {}, allow_unlisted } }: CopyRun,
): Promise<{ body: Fields; warnings: string[] }> {
  const { body, left } = copiedFields(original, { ...changes, name })
  const run = { request: { params, query: {} }, session, signal, noteCoercion }
  const checks = newValueChecks(run, allow_unlisted)
  const [catalogs, greeting, copied] = await Promise.all([
    checks.catalogValues(body, original),
    'initial_message' in changes ? checks.greeting(body.initial_message) : undefined,
    isOtherAccount ? missingThere(body, changes, run) : [],
  ])
  const unread = driftOf(original).flatMap(({ path }) =>
    Object.hasOwn(AgentCreate.shape, path.split('.', 1)[0] ?? '') ? path : [],
  )
  const warnings = [
    ...catalogs.warnings,
    ...(greeting?.warnings ?? []),
    ...copied,
    ...(left.length > 0
      ? [`not copied, because a new agent does not take it: ${left.join(', ')}`]
      : []),
    ...(unread.length > 0
      ? [`not copied, because the platform shows it in an undocumented form: ${unread.join(', ')}`]
      : []),
    ...(original.is_archived ? ['the original is archived; the copy is active'] : []),
  ]
  return { body: catalogs.wanted, warnings }
}

/** Copied values that the catalogs of the other account lack. */
async function missingThere(
  body: Fields,
  changes: Fields,
  run: Pick<Run, 'request' | 'session' | 'signal'>,
): Promise<string[]> {
  const reader = accountReader(run)
  const agent = Agent.parse({ ...body, id: 'copy' })
  const copied = catalogParts.filter((part) => !(part in changes))
  const found = await Promise.all(
    copied.map((part) => checkCatalogPart(part, agent, reader).catch(ignoreApiError)),
  )
  return found.flatMap((check) => (check?.fix ? `${check.check}: ${check.found}` : []))
}
