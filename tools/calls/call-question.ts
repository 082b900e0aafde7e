import type { Agent } from '../../src/contract/agent.ts'
import type { CallCreate } from '../../src/contract/call.ts'
import { ignoreApiError } from '../../src/platform/failure.ts'
import type { CacheLifetime } from '../../src/platform/sessions/reply-cache.ts'
import { resultOr } from '../../src/platform/time-limit.ts'
import {
  countedInDialog,
  type DialogText,
  dialogText,
  joinDialogTexts,
  quotedNameWithId,
  quotedUpTo,
  wordOrQuoted,
} from '../../src/text/dialog-text.ts'
import { canonicalJson } from '../../src/text/json.ts'
import {
  type AccountReader,
  accountArgumentText,
  accountForPerson,
  accountReader,
} from '../../src/tool/account-reader.ts'
import {
  type CheckResult,
  checkAccounts,
  checkNotArchived,
  lookUpFromNumber,
} from '../../src/tool/checks/readiness.ts'
import {
  type Confirmable,
  type ShownArgument,
  valuesOf,
} from '../../src/tool/confirmation-question.ts'
import type { Run } from '../../src/tool/tool.ts'
import { type BatchBody, greetingFacts } from './call-question-greetings.ts'

type QuestionRun = Pick<Run, 'request' | 'session' | 'restricted' | 'signal'>

/** The question before one call. Shows every value that decides who is called or what is said. */
export async function callQuestion(
  run: QuestionRun,
  body: CallCreate,
  agent: Agent,
): Promise<Confirmable> {
  const { to_number: to } = body
  return {
    kind: 'calls',
    question:
      to === undefined
        ? dialogText`Open a browser call with ${nameOrId(agent)}?`
        : dialogText`Call ${wordOrQuoted(to)}?`,
    facts: {
      ...(to !== undefined && { To: wordOrQuoted(to) }),
      ...(await commonFacts(run, [{ at: 0, body }], agent)),
    },
    values: otherValues(body),
    scope: shownGreeting(agent),
  }
}

/**
 * The greeting as part of the confirmation's scope: if the agent's greeting changes, the earlier
 * confirmation is void.
 */
export const shownGreeting = ({ initial_message: greeting }: Agent) => ({
  greeting: greeting ?? null,
})

const nameOrId = ({ name, id }: Agent) => (name ? quotedUpTo(name) : wordOrQuoted(id))

interface BatchToConfirm {
  readonly listed: readonly BatchBody[]
  readonly agent: Agent
  /** Facts about those calls of the batch that will not be placed. */
  readonly otherCalls: Readonly<Record<string, DialogText>>
}

/** The question before a batch. Shows common values once, and differing values per call. */
export async function batchQuestion(
  run: QuestionRun,
  { listed, agent, otherCalls }: BatchToConfirm,
): Promise<Omit<Confirmable, 'scope'>> {
  // Equal entries of a batch are one call, so they are shown once.
  const bodies = listed.map(({ body }) => canonicalJson(body))
  const calls = listed.filter((_, at) => bodies.indexOf(bodies[at] ?? '') === at)
  const { common, own } = sharedVariables(calls.map(({ body }) => body.test_variables ?? {}))
  const each = calls.map(({ at, body }, nth) => ({
    at,
    to: wordOrQuoted(body.to_number ?? ''),
    own: [...valuesOf('external_id', body.external_id), ...variableValues(own[nth] ?? {})],
  }))
  const differs = each.some(({ own: values }) => values.length > 0)
  const [first] = listed
  const { external_id: _, test_variables: __, ...rest } = first?.body ?? {}
  return {
    kind: 'calls',
    question: dialogText`Place ${countedInDialog(calls.length, dialogText`call`)}?`,
    facts: {
      ...(!differs && numberFacts(each.map(({ to }) => to))),
      ...otherCalls,
      ...(await commonFacts(run, calls, agent)),
    },
    values: [
      ...otherValues(rest),
      ...variableValues(common),
      ...(differs ? each.map(callValue) : []),
    ],
  }
}

/** Maximum length of a finding in a question, characters. */
const longestFinding = 800

/** Facts that all calls share, and the greetings of the calls. */
async function commonFacts(run: QuestionRun, calls: readonly BatchBody[], agent: Agent) {
  const from = calls[0]?.body.from_number
  const [account, { fromName, problems }, greeting] = await Promise.all([
    accountForPerson(run),
    callFindings(run, from, agent),
    greetingFacts(agent, calls),
  ])
  const found = problems.map(({ found, fix }) => quotedUpTo(`${found}. ${fix}`, longestFinding))
  const called = fromName ? dialogText` (${quotedUpTo(fromName)})` : dialogText``
  return {
    ...(from !== undefined && { From: dialogText`${wordOrQuoted(from)}${called}` }),
    Agent: quotedNameWithId(agent.name, agent.id),
    ...greeting,
    Account: account,
    ...(found.length > 0 && { 'Will probably fail': joinDialogTexts(found, ', ') }),
    ...(run.session.isSandbox && { Sandbox: dialogText`simulated, nobody is rung` }),
  }
}

/** Body fields that the question shows as facts. */
const fieldsInFacts = ['type', 'agent_id', 'from_number', 'to_number']

/** All other body fields that are sent. */
const otherValues = (body: Partial<CallCreate>): ShownArgument[] =>
  Object.entries(body).flatMap(([name, value]) =>
    fieldsInFacts.includes(name) ? [] : valuesOf(name, value),
  )

type Variables = Readonly<Record<string, unknown>>

const variableValues = (variables: Variables) =>
  Object.keys(variables).length === 0 ? [] : valuesOf('test_variables', variables)

/** Splits variables into those that all calls share and the rest of each call. */
function sharedVariables(all: readonly Variables[]): { common: Variables; own: Variables[] } {
  const [first = {}] = all
  const names = Object.keys(first).filter((name) =>
    all.every(
      (one) => Object.hasOwn(one, name) && canonicalJson(one[name]) === canonicalJson(first[name]),
    ),
  )
  const part = (variables: Variables, isCommon: boolean) =>
    Object.fromEntries(
      Object.entries(variables).filter(([name]) => names.includes(name) === isCommon),
    )
  return { common: part(first, true), own: all.map((one) => part(one, false)) }
}

interface BatchValues {
  readonly at: number
  readonly to: DialogText
  readonly own: readonly ShownArgument[]
}

const callValue = ({ at, to, own }: BatchValues): ShownArgument => ({
  name: dialogText`Call ${at + 1}`,
  text: joinDialogTexts([to, ...own.map(({ name, text }) => dialogText`${name} ${text}`)], ', '),
  argument: `calls.${at}`,
})

const numbersPerFact = 25

/** All phone numbers of a batch: the person must see who is called. */
const numberFacts = (numbers: readonly DialogText[]) =>
  Object.fromEntries(
    Array.from({ length: Math.ceil(numbers.length / numbersPerFact) }, (_, at) => {
      const from = at * numbersPerFact
      const name = at === 0 ? 'To' : `To (${from + 1} on)`
      return [name, joinDialogTexts(numbers.slice(from, from + numbersPerFact), ', ')]
    }),
  )

/**
 * Findings for the person who confirms a call: the name of the caller number, and likely failures.
 * Findings never refuse the call, because the platform's reference does not say whether the
 * platform would. Slow and unreadable findings are omitted.
 */
async function callFindings(run: QuestionRun, from: string | undefined, agent: Agent) {
  const { pinnedAccount } = run.restricted
  const lookUps = await Promise.all([
    from === undefined
      ? undefined
      : lookUp(run, 'names', async (reader, fixReader) => {
          const { number, checks } = await lookUpFromNumber(from, reader, fixReader)
          return { checks, fromName: number?.friendly_name ?? undefined }
        }),
    lookUp(run, 'account', async (reader) => ({
      checks: await checkAccounts(reader, pinnedAccount),
    })),
    lookUp(run, 'names', async (reader) => ({ checks: [await checkNotArchived(agent, reader)] })),
  ])
  const found = lookUps.filter((one) => one !== undefined)
  return {
    fromName: found.find(({ fromName }) => fromName)?.fromName,
    problems: found.flatMap(({ checks }) => checks.filter(({ ok }) => !ok)),
  }
}

/** Timeout for the findings of a question, ms. */
const lookUpTimeoutMs = 1000

interface LookUp {
  readonly checks: readonly CheckResult[]
  readonly fromName?: string | undefined
}

/**
 * Runs the checks on cached replies. If they find a problem, runs them again on fresh replies, and
 * reports that result with the suggested fixes.
 */
function lookUp(
  run: QuestionRun,
  lifetime: CacheLifetime,
  check: (reader: AccountReader, fixReader?: AccountReader) => Promise<LookUp>,
): Promise<LookUp | undefined> {
  const reader = accountReader({ ...run, session: run.restricted })
  // Taken from the unrestricted session, because only that session knows the id of the API key's
  // own account.
  const accountArgument = accountArgumentText(run)
  const checkWith = (how: 'cached' | 'refreshed') => {
    const read: AccountReader = {
      ...reader,
      accountArgument,
      call: (route, given) => reader[how](route, given, lifetime),
    }
    return check(read, how === 'refreshed' ? read : undefined)
  }
  const found = checkWith('cached')
    .then((cached) => (cached.checks.every(({ ok }) => ok) ? cached : checkWith('refreshed')))
    .catch(ignoreApiError)
  return resultOr<LookUp | undefined, undefined>(found, () => undefined, { ms: lookUpTimeoutMs })
}
