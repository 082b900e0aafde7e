import type { Agent } from '../../contract/agent.ts'
import type { CallCreate } from '../../contract/call.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import {
  type Confirmable,
  type ShownArgument,
  valuesOf,
} from '../../mcp/call/confirmation-question.ts'
import type { Run } from '../../mcp/call/tool.ts'
import {
  countedInDialog,
  type DialogText,
  dialogText,
  joinDialogTexts,
  quotedNameWithId,
  quotedUpTo,
  wordOrQuoted,
} from '../../text/dialog-text.ts'
import { accountForPerson } from '../account-in-words.ts'
import { callFindings } from '../checks/call-findings.ts'
import { greetingFacts, type ListedBody } from './greeting-facts.ts'

type QuestionRun = Pick<Run, 'request' | 'session' | 'restricted' | 'signal'>

/** The question before one call. It shows everything that changes who is called or what is said. */
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
        ? dialogText`Open a browser call with this agent?`
        : dialogText`Call ${wordOrQuoted(to)}?`,
    facts: {
      ...(to !== undefined && { 'Who is called': wordOrQuoted(to) }),
      ...(await commonFacts(run, [{ at: 0, body }], agent)),
    },
    values: otherValues(body),
    scope: shownGreeting(agent),
  }
}

/** Another greeting than the one that was shown is another question, also if the agent has it since. */
export const shownGreeting = ({ initial_message: greeting }: Agent) => ({
  greeting: greeting ?? null,
})

interface ListToConfirm {
  readonly listed: readonly ListedBody[]
  readonly agent: Agent
  /** Facts about the calls of the list that are not placed. */
  readonly otherCalls: Readonly<Record<string, DialogText>>
}

/** The question before a list of calls: common values once, other values for each call. */
export async function listQuestion(
  run: QuestionRun,
  { listed, agent, otherCalls }: ListToConfirm,
): Promise<Omit<Confirmable, 'scope'>> {
  // Two equal calls of a list are one call.
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

/** Longest finding in a question, in characters. */
const longestFinding = 500

/** Facts that all calls share, and their greetings. */
async function commonFacts(run: QuestionRun, calls: readonly ListedBody[], agent: Agent) {
  const from = calls[0]?.body.from_number
  const [account, { fromName, problems }, greeting] = await Promise.all([
    accountForPerson(run),
    callFindings(run, { from, agent }),
    greetingFacts(agent, calls),
  ])
  const found = problems.map(({ found, fix }) => quotedUpTo(`${found}; ${fix}`, longestFinding))
  const called = fromName ? dialogText` (${quotedUpTo(fromName)})` : dialogText``
  return {
    Agent: quotedNameWithId(agent.name, agent.id),
    ...(from !== undefined && { 'From number': dialogText`${wordOrQuoted(from)}${called}` }),
    ...greeting,
    Account: account,
    ...(found.length > 0 && { 'Will probably fail': joinDialogTexts(found, ', ') }),
    ...(run.session.isSandbox && { Note: dialogText`SANDBOX: simulated, nobody is rung` }),
  }
}

/** Fields that the question shows as facts. */
const fieldsInFacts = ['type', 'agent_id', 'from_number', 'to_number']

/** All other fields that are sent. */
const otherValues = (body: Partial<CallCreate>): ShownArgument[] =>
  Object.entries(body).flatMap(([name, value]) =>
    fieldsInFacts.includes(name) ? [] : valuesOf(name, value),
  )

type Variables = Readonly<Record<string, unknown>>

const variableValues = (variables: Variables) =>
  Object.keys(variables).length === 0 ? [] : valuesOf('test_variables', variables)

/** Variables that are the same for all calls, and for each call its other variables. */
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

interface ListedValues {
  readonly at: number
  readonly to: DialogText
  readonly own: readonly ShownArgument[]
}

const callValue = ({ at, to, own }: ListedValues): ShownArgument => ({
  name: dialogText`Call ${at + 1}`,
  text: joinDialogTexts([to, ...own.map(({ name, text }) => dialogText`${name} ${text}`)], ', '),
  argument: `calls.${at}`,
})

/** Numbers of one fact. */
const numbersPerFact = 25

/** All numbers of a list: the person must see who is called. */
const numberFacts = (numbers: readonly DialogText[]) =>
  Object.fromEntries(
    Array.from({ length: Math.ceil(numbers.length / numbersPerFact) }, (_, at) => {
      const from = at * numbersPerFact
      const name = at === 0 ? 'Who is called' : `From ${from + 1} on`
      return [name, joinDialogTexts(numbers.slice(from, from + numbersPerFact), ', ')]
    }),
  )
