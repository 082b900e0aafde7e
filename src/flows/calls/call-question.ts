import type { Agent } from '../../contract/agent.ts'
import type { CallCreate } from '../../contract/call.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import {
  type Confirmable,
  type ShownArgument,
  valuesOf,
} from '../../mcp/call/confirmation-question.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { bare, joined, namedShown, type Shown, say } from '../../text/quoted.ts'
import { accountForPerson } from '../account-in-words.ts'
import { fromNumberWarning } from '../checks/from-number-warning.ts'

type OnAccount = Pick<Run, 'request' | 'session' | 'restricted' | 'signal'>

/** What a person is asked before one call: all of it that changes who is called and what is said. */
export async function callQuestion(
  run: OnAccount,
  body: CallCreate,
  agent: Agent,
): Promise<Confirmable> {
  const { to_number: to } = body
  return {
    kind: 'calls',
    question: to === undefined ? say`Open a browser call with this agent?` : say`Call ${bare(to)}?`,
    facts: {
      ...(to !== undefined && { 'Who is called': bare(to) }),
      ...(await commonFacts(run, body, agent)),
    },
    values: otherValues(body),
  }
}

/** One call of a list, as it would be sent. */
export interface ListedBody {
  /** Its place in the list, from 0. */
  readonly at: number
  readonly body: CallCreate
}

/** What a person is asked before a list of calls: what is common once, what differs for each call. */
export async function listQuestion(
  run: OnAccount,
  { listed, agent, aside }: ListToAsk,
): Promise<Omit<Confirmable, 'scope'>> {
  // The same twice in a list is one call.
  const bodies = listed.map(({ body }) => canonicalJson(body))
  const calls = listed.filter((_, at) => bodies.indexOf(bodies[at] ?? '') === at)
  const { common, own } = sharedVariables(calls.map(({ body }) => body.test_variables ?? {}))
  const each = calls.map(({ at, body }, nth) => ({
    at,
    to: bare(body.to_number ?? ''),
    own: [...valuesOf('external_id', body.external_id), ...variableValues(own[nth] ?? {})],
  }))
  const differs = each.some(({ own: values }) => values.length > 0)
  const [first] = listed
  const { external_id: _, test_variables: __, ...rest } = first?.body ?? {}
  return {
    kind: 'calls',
    question: say`Place ${calls.length} ${calls.length === 1 ? say`call` : say`calls`}?`,
    facts: {
      ...(!differs && numberFacts(each.map(({ to }) => to))),
      ...aside,
      ...(first && (await commonFacts(run, first.body, agent))),
    },
    values: [
      ...otherValues(rest),
      ...variableValues(common),
      ...(differs ? each.map(callValue) : []),
    ],
  }
}

interface ListToAsk {
  readonly listed: readonly ListedBody[]
  readonly agent: Agent
  /** What is said of the calls of the list that are not placed. */
  readonly aside: Readonly<Record<string, Shown>>
}

/** What all calls have in common, before any value of their own. */
const commonFacts = async (run: OnAccount, { from_number: from }: CallCreate, agent: Agent) => ({
  Agent: namedShown(agent.name, agent.id),
  ...(from !== undefined && { 'From number': bare(from) }),
  Account: await accountForPerson(run),
  ...(await fromNumberWarning(run, from)),
  ...(run.session.isSandbox && { Note: say`SANDBOX: simulated, nobody is rung` }),
})

/** Fields that a question names in words. */
const inWords = ['type', 'agent_id', 'from_number', 'to_number']

/** Every other field that is sent, whatever it is. */
const otherValues = (body: Partial<CallCreate>): ShownArgument[] =>
  Object.entries(body).flatMap(([name, value]) =>
    inWords.includes(name) ? [] : valuesOf(name, value),
  )

type Variables = Readonly<Record<string, unknown>>

const variableValues = (variables: Variables) =>
  Object.keys(variables).length === 0 ? [] : valuesOf('test_variables', variables)

/** Variables that are the same for all, and for each the others. */
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

const callValue = ({
  at,
  to,
  own,
}: {
  at: number
  to: Shown
  own: readonly ShownArgument[]
}): ShownArgument => ({
  name: say`Call ${at + 1}`,
  text: joined([to, ...own.map(({ name, text }) => say`${name} ${text}`)], ', '),
  argument: `calls.${at}`,
})

/** Numbers on one line. */
const numbersOnLine = 25

/** All numbers of a list, a few lines of them: whom one agrees to call is to be seen. */
const numberFacts = (numbers: readonly Shown[]) =>
  Object.fromEntries(
    Array.from({ length: Math.ceil(numbers.length / numbersOnLine) }, (_, at) => {
      const from = at * numbersOnLine
      const name = at === 0 ? 'Who is called' : `From ${from + 1} on`
      return [name, joined(numbers.slice(from, from + numbersOnLine), ', ')]
    }),
  )
