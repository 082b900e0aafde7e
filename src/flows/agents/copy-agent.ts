import * as z from 'zod'
import { ApiError } from '../../api/failure.ts'
import { failureText } from '../../api/failure-text.ts'
import { mayBeDone } from '../../api/may-be-done.ts'
import { type Agent, AgentCreate, AgentUpdate } from '../../contract/agent.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import { badArguments, Refused } from '../../mcp/call/refused.ts'
import type { Run, Steps } from '../../mcp/call/tool.ts'
import type { NamingArgument } from '../../mcp/hints/named-things.ts'
import { idMeant } from '../../mcp/hints/names-to-ids.ts'
import { accountIdIn, accountIn } from '../../session/account.ts'
import { nameWithId } from '../../text/closest-match.ts'
import { copiedFields } from './copied-fields.ts'
import { copyWarnings } from './copy-warnings.ts'
import { savedAgentLines } from './saved-agent.ts'

const { name: _, is_archived: __, ...changeable } = AgentUpdate.shape

const options = {
  agent_id: z.string().min(1).describe('Agent id.'),
  name: z.string().min(1).max(50).describe('Of the copy.'),
  changes: z.object(changeable).optional().describe('Fields as in update_agent.'),
  to_account_id: z.string().min(1).optional().describe('Id or name of the account to copy into.'),
}

const schema = z.object({
  id: z.string().describe("The copy's id."),
  account_id: z.string().optional().describe('Its account.'),
  name: z.string().describe('Its name.'),
  modified: z.string().nullish().describe('When it last changed.'),
  copied_from: z.string().describe('Id of the original.'),
  warnings: z.array(z.string()).describe('What may be a mistake, and what did not come along.'),
})

type CopyRun = Run<typeof routes.agents.create, typeof options>

/** Creates an agent like another one, in the same account or another, with changes. */
export const copyAgentSteps: Steps<typeof routes.agents.create, typeof options> = {
  options,
  without: Object.keys(AgentCreate.shape).filter((name) => name !== 'name'),
  schema,
  async run(run) {
    const { name, changes = {} } = run.options
    const original = await readOriginal(run)
    const target = await targetOf(run)
    const { body, left } = copiedFields(original, { ...changes, name })
    const warnings = await copyWarnings({ original, body, changes, left, ...target }, run)
    const copy = await create({ params: target.params, query: {}, body }, target, run)
    const verb = `Copied ${nameWithId(original.name, original.id)} to`
    return {
      structured: {
        ...{ id: copy.id, name: copy.name ?? name, modified: copy.modified },
        ...{ copied_from: original.id, warnings },
      },
      lines: [...savedAgentLines(copy, { verb, given: body, warnings }), restInWords(changes)],
      accountId: accountIn(target),
    }
  },
}

/** What a copy has in common with its original. */
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

/** Where the copy is created. Throws Refused and ApiError. */
async function targetOf(run: CopyRun): Promise<Target> {
  const { to_account_id: given } = run.options
  const { session, request } = run
  const { pinnedAccount } = session
  const own = { params: { account_id: accountIn(request) }, isOtherAccount: false }
  if (given === undefined) return own
  if (pinnedAccount !== undefined && given !== pinnedAccount)
    throw badArguments([
      { argument: 'to_account_id', message: `this server acts on ${pinnedAccount} only` },
    ])
  const params = { account_id: await idOf('account_id', given, run, 'to_account_id') }
  const [from, to] = await Promise.all([
    accountIdIn(request, session),
    accountIdIn({ params }, session),
  ])
  return { params, isOtherAccount: from !== to }
}

/** The id of what an argument names. Throws Refused where that is not certain. */
async function idOf(
  kind: NamingArgument,
  given: string,
  { request: { params }, restricted: session, signal }: CopyRun,
  argument: string = kind,
): Promise<string> {
  const meant = await idMeant(kind, given, { params, session, signal })
  if ('problem' in meant) throw badArguments([{ argument, message: meant.problem }])
  return meant.id
}

/** Throws Refused and ApiError; a creation is never sent twice. */
async function create(
  request: RouteRequest,
  { isOtherAccount }: Target,
  { session, signal, options: { name } }: CopyRun,
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
          next: `Look with list_agents, name ${JSON.stringify(name)}${account}, before you call copy_agent again: a second call creates a second copy.`,
        },
      )
    const { failure } = error
    const isRefused = failure.kind === 'rejected' && [403, 404].includes(failure.status)
    if (!isOtherAccount || !isRefused) throw error
    throw badArguments([
      { argument: 'to_account_id', message: `${why}; list_subaccounts shows the accounts` },
    ])
  }
}
