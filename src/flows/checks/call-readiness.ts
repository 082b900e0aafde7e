import * as z from 'zod'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import type { Run, Steps } from '../../mcp/call/tool.ts'
import { agentsMeant, archivedAgentHint } from '../../mcp/hints/did-you-mean.ts'
import { isUuid } from '../../text/canonical-id.ts'
import { itemLabel } from '../../text/closest-match.ts'
import { checkDialPolicy, dialRequestOf } from '../calls/dial-policy-check.ts'
import { checkAccounts } from './account-check.ts'
import { type AccountReader, accountReader, unlessMissing } from './account-reader.ts'
import { checkNotArchived } from './archived-check.ts'
import { CheckResult, ok, problem } from './check-result.ts'
import { checkFromNumber } from './from-number-check.ts'
import { checkGreeting } from './greeting-check.ts'

const options = {
  from_number: z.string().min(1).describe('Your number to call from.'),
  to_number: z.string().min(1).describe('Number to call.'),
}

/** Route arguments that say nothing about whether a call would work. */
const without = Object.keys(routes.calls.place.body.shape).filter(
  (name) => !['agent_id', 'test_variables'].includes(name),
)

type ReadinessRun = Run<typeof routes.calls.place, typeof options>

/** Checks everything that could prevent a call, without placing it. Nothing is taken from the cache. */
export const callReadinessSteps: Steps<typeof routes.calls.place, typeof options> = {
  options,
  without,
  schema: z.object({
    ready: z.boolean().describe('True: place_call would go ahead.'),
    checks: z.array(CheckResult).describe('One by one.'),
  }),
  async run(run) {
    const { from_number, to_number } = run.options
    const reader = accountReader(run)
    const from = formatCheck('from_number format', from_number)
    const to = formatCheck('to_number format', to_number)
    const [accounts, { agent, checks: agentChecks }, number] = await Promise.all([
      checkAccounts(reader, run.session.pinnedAccount),
      checkAgent(run, reader),
      from.ok ? checkFromNumber(from_number, reader) : [],
    ])
    const destination = to.ok ? [await checkDestination(run, agent)] : []
    const checks = [...accounts, ...agentChecks, from, ...number, to, ...destination]
    const ready = checks.every((check) => check.ok)
    const head = ready ? 'Ready: place_call would go ahead.' : 'Not ready.'
    return { structured: { ready, checks }, lines: [head, ...checks.map(lineOf)] }
  },
}

function lineOf({ check, ok: isOk, found, fix }: CheckResult): string {
  const result = isOk ? (fix ? 'WARNING' : 'ok') : 'WRONG'
  return `${result} ${check}: ${found}${fix ? ` → ${fix}` : ''}`
}

function formatCheck(check: string, given: string): CheckResult {
  if (/^\+[1-9]\d{1,14}$/.test(given)) return ok(check, given)
  const digits = given.replaceAll(/[^\d+]/g, '').replace(/^00/, '+')
  const meant = /^\+[1-9]\d{4,14}$/.test(digits) ? ` such as ${digits}` : ' such as +4930123456'
  return problem(
    check,
    `${given} is not E.164`,
    `write it with + and country code, without spaces,${meant}`,
  )
}

interface AgentChecks {
  /** `undefined`: there is no such agent. */
  readonly agent: Agent | undefined
  readonly checks: CheckResult[]
}

async function checkAgent(run: ReadinessRun, reader: AccountReader): Promise<AgentChecks> {
  const { agent_id, test_variables = {} } = run.body
  const agent = await unlessMissing(reader.call(routes.agents.get, { params: { agent_id } }))
  if (!agent) return { agent, checks: [await missingAgent(run, reader)] }
  const exists = await checkNotArchived(agent, reader)
  return { agent, checks: [exists, await checkGreeting(agent, test_variables ?? {}, reader)] }
}

async function missingAgent(
  { body: { agent_id }, restricted }: ReadinessRun,
  { account }: AccountReader,
): Promise<CheckResult> {
  const close = await agentsMeant(agent_id, account, restricted)
  const meant =
    close.length > 0
      ? `did you mean ${close.map(itemLabel).join(' or ')}?`
      : 'take one from list_agents.'
  const mayBeName = !isUuid(agent_id) && restricted.mayRead(routes.agents.list)
  const fix = mayBeName ? `${meant} ${archivedAgentHint}` : meant
  return problem('agent', `there is no ${agent_id}`, fix)
}

/** Checks the destination by the dial policy and by the number itself. */
async function checkDestination(run: ReadinessRun, agent: Agent | undefined): Promise<CheckResult> {
  const { from_number, to_number } = run.options
  const call = { type: 'phone', from_number, to_number } as const
  const dial = dialRequestOf(run, call, agent ?? { id: run.body.agent_id })
  const decision = await checkDialPolicy(dial, run)
  if (!decision.allowed) {
    return problem('destination', `${decision.message} (${decision.rule})`, decision.change)
  }
  const { country, type } = decision.destination
  return ok('destination', [to_number, country, type].filter(Boolean).join(', '))
}
