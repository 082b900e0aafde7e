import * as z from 'zod'
import type { Account } from '../../contract/account.ts'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import type { Run, Steps } from '../../mcp/call/tool.ts'
import { isUuid } from '../../mcp/hints/agent-names.ts'
import { agentsMeant, archivedAgentHint } from '../../mcp/hints/did-you-mean.ts'
import { accountIn } from '../../session/account.ts'
import { itemLabel, nameWithId } from '../../text/closest-match.ts'
import { isObject } from '../agents/field-changes.ts'
import { unfilled, variablePaths } from '../agents/greeting-variables.ts'
import { isArchived } from '../agents/is-archived.ts'
import { allowed } from '../calls/calls-at-once.ts'
import { dialRequest } from '../calls/place-call.ts'
import { Check, doubtful, ok, wrong } from './check.ts'
import { checkLine, type Reads, unlessMissing } from './line-check.ts'

const options = {
  from_number: z.string().min(1).describe('Your number to call from.'),
  to_number: z.string().min(1).describe('Number to call.'),
}

/** Route arguments that say nothing about whether a call would work. */
const without = Object.keys(routes.calls.place.body.shape).filter(
  (name) => !['agent_id', 'test_variables'].includes(name),
)

type ReadyRun = Run<typeof routes.calls.place, typeof options>

/** Variables that are named, of those that nothing fills. */
const mostVariables = 10

/** Everything that keeps a call from being placed, found without placing it. */
export const callReadiness: Steps<typeof routes.calls.place, typeof options> = {
  options,
  without,
  schema: z.object({
    ready: z.boolean().describe('True: place_call would go ahead.'),
    checks: z.array(Check).describe('One by one.'),
  }),
  async run(run) {
    const { from_number, to_number } = run.options
    const from = formatOf('from_number format', from_number)
    const to = formatOf('to_number format', to_number)
    const [aboutAccount, { agent, checks: aboutAgent }, aboutLine] = await Promise.all([
      checkAccounts(run),
      checkAgent(run),
      from.ok ? checkLine(from_number, readsOf(run)) : [],
    ])
    const aboutTarget = to.ok ? [await checkTarget(run, agent)] : []
    const checks = [...aboutAccount, ...aboutAgent, from, ...aboutLine, to, ...aboutTarget]
    const ready = checks.every((check) => check.ok)
    const lines = checks.map(
      ({ check, ok: fine, found, fix }) =>
        `${fine ? (fix ? 'WARNING' : 'ok') : 'WRONG'} ${check}: ${found}${fix ? ` → ${fix}` : ''}`,
    )
    const head = ready ? 'Ready: place_call would go ahead.' : 'Not ready.'
    return { structured: { ready, checks }, lines: [head, ...lines] }
  },
}

/** Nothing out of memory: what was wrong a moment ago may have been put right. */
const readsOf = ({ request, session, signal }: ReadyRun): Reads => ({
  account: accountIn(request),
  read: (route, asked) => session.client.call(route, asked, signal),
})

function formatOf(check: string, given: string): Check {
  if (/^\+[1-9]\d{1,14}$/.test(given)) return ok(check, given)
  const digits = given.replaceAll(/[^\d+]/g, '').replace(/^00/, '+')
  const meant = /^\+[1-9]\d{4,14}$/.test(digits) ? ` such as ${digits}` : ' such as +4930123456'
  return wrong(
    check,
    `${given} is not E.164`,
    `write it with + and country code, without spaces,${meant}`,
  )
}

/** The account of the call, and the one above it that the key belongs to: both have to be active. */
async function checkAccounts({ request, session, signal }: ReadyRun): Promise<Check[]> {
  const account_id = accountIn(request)
  const { client, pinnedAccount } = session
  const own = await client.call(routes.accounts.current, { params: {}, query: {} }, signal)
  // Whoever acts on a pinned account below it is told of it, but not which one it is.
  const isHidden = pinnedAccount !== undefined && ![own.id, 'me'].includes(pinnedAccount)
  const checks = [
    activityOf(
      isHidden ? { ...own, id: "the API key's own", name: null } : own,
      'only who runs the platform, or a parent account, can change that',
    ),
  ]
  if (account_id === 'me' || account_id === own.id) return checks
  const asked = { params: { account_id: 'me', subaccount_id: account_id }, query: {} }
  const below = await unlessMissing(client.call(routes.accounts.getSubaccount, asked, signal))
  return below
    ? [...checks, activityOf(below, 'activate it with update_subaccount, is_active true')]
    : checks
}

function activityOf({ id, name, is_active }: Account, fix: string): Check {
  const account = nameWithId(name, id)
  return is_active === false
    ? wrong('account', `${account} is inactive`, fix)
    : ok('account', account)
}

async function checkAgent(run: ReadyRun): Promise<{ agent: Agent | undefined; checks: Check[] }> {
  const { request, body, session, signal } = run
  const account_id = accountIn(request)
  const asked = { params: { account_id, agent_id: body.agent_id }, query: {} }
  const agent = await unlessMissing(session.client.call(routes.agents.get, asked, signal))
  if (!agent) {
    const near = await agentsMeant(body.agent_id, account_id, run.restricted)
    const fix =
      near.length > 0
        ? `did you mean ${near.map(itemLabel).join(' or ')}?`
        : 'take one from list_agents.'
    const hint = isUuid(body.agent_id) ? fix : `${fix} ${archivedAgentHint}`
    return { agent, checks: [wrong('agent', `there is no ${body.agent_id}`, hint)] }
  }
  const name = nameWithId(agent.name, agent.id)
  const list = (query: Readonly<Record<string, unknown>>) =>
    session.client.call(routes.agents.list, { params: { account_id }, query }, signal)
  const exists = (await isArchived(agent, list))
    ? wrong(
        'agent',
        `${name} is archived`,
        'bring it back with update_agent, is_archived false, or take another from list_agents',
      )
    : ok('agent', name)
  return { agent, checks: [exists, await checkVariables(run, agent)] }
}

/**
 * Variables of the greeting that neither the platform nor the call fills. To the platform they are
 * no error [R], so they keep no call from being placed; what is spoken is another matter.
 */
async function checkVariables(run: ReadyRun, agent: Agent): Promise<Check> {
  const { request, body, session, signal } = run
  const template = isObject(agent.initial_message) ? agent.initial_message.message : null
  if (typeof template !== 'string' || template === '') return ok('greeting', 'none')
  const account_id = accountIn(request)
  const given = variablePaths(body.test_variables ?? {})
  const {
    valid,
    errors,
    unknown_variables: unknown,
  } = await session.client.call(
    routes.templates.validate,
    { params: { account_id }, query: {}, body: { template, allowed_variables: given } },
    signal,
  )
  if (!valid) {
    const [{ line, message } = { line: null, message: 'it does not render' }] = errors
    const where = typeof line === 'number' ? `line ${line}: ` : ''
    return wrong('greeting', `${where}${message}`, 'correct initial_message with update_agent')
  }
  const empty = unfilled(unknown, template, given)
  if (empty.length === 0) return ok('greeting', 'all its variables are known or have a default')
  const more = empty.length > mostVariables ? ` and ${empty.length - mostVariables} more` : ''
  return doubtful(
    'greeting',
    `nothing fills ${empty.slice(0, mostVariables).join(', ')}${more}`,
    'give test_variables for them, or correct initial_message with update_agent',
  )
}

/** What the operator's policy, and the number itself, say of the destination. */
async function checkTarget(run: ReadyRun, agent: Agent | undefined): Promise<Check> {
  const { from_number, to_number } = run.options
  const dialled = { type: 'phone', from_number, to_number } as const
  const speaker = agent ?? { id: run.body.agent_id }
  const verdict = await allowed(dialRequest(run, dialled, speaker), run)
  if (!verdict.allowed) {
    return wrong('destination', `${verdict.message} (${verdict.rule})`, verdict.change)
  }
  const { country, type } = verdict.facts
  return ok('destination', [to_number, country, type].filter(Boolean).join(', '))
}
