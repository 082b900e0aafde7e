import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { unlessMissing } from '../../src/platform/failure.ts'
import {
  callableExpected,
  e164Expected,
  e164Meant,
  emergencyNever,
  isE164,
} from '../../src/text/phone-number.ts'
import { type AccountReader, accountReader } from '../../src/tool/account-reader.ts'
import {
  checkGreeting,
  type SpokenGreeting,
  spokenGreeting,
  spokenGreetingInWords,
} from '../../src/tool/checks/greeting.ts'
import {
  CheckResult,
  checkAccounts,
  checkNotArchived,
  lookUpFromNumber,
  ok,
  problem,
  warning,
} from '../../src/tool/checks/readiness.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { hintFor } from '../../src/tool/references/did-you-mean.ts'
import type { OutputWithLines, Run } from '../../src/tool/tool.ts'
import { checkDialPolicy, dialRequestOf } from './placing-steps.ts'

const options = {
  from_number: z.string().min(1).describe('Your number to call from, or its name.'),
  to_number: z.string().min(1).describe('Number to call.'),
}

/** Arguments of place_call that do not affect readiness. */
const without = Object.keys(routes.calls.place.body.shape).filter(
  (name) => !['agent_id', 'test_variables'].includes(name),
)

type ReadinessRun = Run<typeof routes.calls.place, typeof options>

/** Checks everything that could prevent a call, without placing it. Bypasses the cache. */
export const checkCallReadiness = defineTool({
  name: 'check_call_readiness',
  title: 'Check call readiness',
  description:
    'Checks, without calling, whether an agent can call a number: greeting variables, number owned, trunk can dial out, destination allowed. Says what is missing or wrong and how to fix it.',
  route: routes.calls.place,
  effect: 'reads',
  options,
  without,
  schema: z.object({
    checks: z.array(CheckResult).describe('One by one, the worst first.'),
    greeting: z.string().optional().describe('The greeting as it will be spoken.'),
    ready: z.boolean().describe('True: place_call would go ahead.'),
  }),
  async run(given) {
    // If the caller number was given by name, the body has the number itself.
    const { from_number = given.options.from_number } = given.request.body
    const from = formatCheck('from_number format', from_number, e164Expected)
    const to = formatCheck('to_number format', given.options.to_number, callableExpected)
    // The other checks use the corrected numbers, so that one tool call finds every problem.
    const numbers = { from_number: from.number, to_number: to.number }
    const run = { ...given, options: { ...given.options, ...numbers } }
    const reader = accountReader(run)
    const fixReader = accountReader({ ...run, session: run.restricted })
    const [accounts, { agent, greeting, checks: agentChecks }, number] = await Promise.all([
      checkAccounts(reader, run.session.pinnedAccount),
      checkAgent(run, reader),
      isE164(from.number)
        ? lookUpFromNumber(from.number, reader, fixReader).then(({ checks }) => checks)
        : [],
    ])
    const destination = isE164(to.number) ? [await checkDestination(run, agent)] : []
    const checks = [...accounts, ...agentChecks, from.check, ...number, to.check, ...destination]
    return readinessOf(checks.sort(bySeverity), greeting)
  },
})

/** The verdict, then the findings it rests on, worst first. */
function readinessOf(
  checks: readonly CheckResult[],
  greeting: string | undefined,
): OutputWithLines {
  const ready = checks.every((check) => check.ok)
  const fine = checks.filter((check) => severity(check) === 'ok')
  return {
    structured: { checks, ...(greeting !== undefined && { greeting }), ready },
    lines: [
      ...checks.filter((check) => severity(check) !== 'ok').map(lineOf),
      ...(fine.length > 0
        ? [`ok: ${fine.map(({ check, found }) => `${check}: ${found}`).join('; ')}`]
        : []),
      ...(greeting === undefined ? [] : [`Greeting (rendered by this server): ${greeting}`]),
      ready ? 'Ready: place_call would go ahead.' : 'Not ready.',
    ],
  }
}

const severities = ['WRONG', 'WARNING', 'ok'] as const

const severity = ({ ok: isOk, fix }: CheckResult): (typeof severities)[number] =>
  isOk ? (fix ? 'WARNING' : 'ok') : 'WRONG'

const bySeverity = (a: CheckResult, b: CheckResult) =>
  severities.indexOf(severity(a)) - severities.indexOf(severity(b))

const lineOf = (check: CheckResult): string =>
  `${severity(check)} ${check.check}: ${check.found}${check.fix ? ` → ${check.fix}` : ''}`

/** Checks whether a phone number is E.164. `number`: the corrected number for the other checks. */
function formatCheck(
  check: string,
  given: string,
  expected: (given: string) => string,
): { readonly check: CheckResult; readonly number: string } {
  if (isE164(given)) return { check: ok(check, given), number: given }
  const found = `${given} is not E.164`
  const meant = e164Meant(given)
  if (expected(given) === emergencyNever)
    return { check: problem(check, found, emergencyNever), number: given }
  if (meant === undefined)
    return { check: problem(check, found, 'give one such as +4930123456'), number: given }
  return {
    check: problem(check, `${found}; the other checks are for ${meant}`, `give ${meant}`),
    number: meant,
  }
}

interface AgentChecks {
  /** `undefined`: the agent does not exist. */
  readonly agent: Agent | undefined
  readonly checks: CheckResult[]
  /** The greeting as it will be spoken. */
  readonly greeting?: string
}

async function checkAgent(run: ReadinessRun, reader: AccountReader): Promise<AgentChecks> {
  const { agent_id, test_variables = {} } = run.request.body
  const agent = await unlessMissing(reader.call(routes.agents.get, { params: { agent_id } }))
  if (!agent) return { agent, checks: [await missingAgent(run)] }
  const { from_number: fromNumber, to_number: toNumber } = run.options
  const testVariables = test_variables ?? {}
  const facts = { agentId: agent.id, fromNumber, toNumber, testVariables, type: 'phone' } as const
  const [exists, check, spoken] = await Promise.all([
    checkNotArchived(agent, reader),
    checkGreeting(agent, testVariables, reader),
    spokenGreeting(agent.initial_message, facts),
  ])
  const greeting = spokenGreetingInWords(spoken)
  return { agent, greeting, checks: [exists, withRendering(check, spoken)] }
}

/** Adds a warning if the greeting fails with these variables, although the platform accepts it. */
const withRendering = (check: CheckResult, spoken: SpokenGreeting): CheckResult =>
  check.ok && !check.fix && spoken.kind === 'fails'
    ? warning(
        check.check,
        spoken.error,
        'give test_variables for it',
        'correct initial_message with update_agent',
      )
    : check

async function missingAgent({ request, restricted }: ReadinessRun): Promise<CheckResult> {
  const { agent_id } = request.body
  const hint = await hintFor('agent_id', agent_id, request, restricted)
  return problem('agent', `there is no ${agent_id}`, hint ?? 'take one from list_agents')
}

/** Checks the destination against the dial policy, and the destination number itself. */
async function checkDestination(run: ReadinessRun, agent: Agent | undefined): Promise<CheckResult> {
  const { from_number, to_number } = run.options
  const call = { type: 'phone', from_number, to_number } as const
  const dial = dialRequestOf(call, agent ?? { id: run.request.body.agent_id })
  const decision = await checkDialPolicy(dial, run)
  if (!decision.allowed) {
    return problem('destination', `${decision.message} (${decision.rule})`, decision.change)
  }
  const { country, type } = decision.destination
  return ok('destination', [to_number, country, type].filter(Boolean).join(', '))
}
