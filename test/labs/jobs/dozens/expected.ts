import { render } from '../../../../src/jinja/index.ts'
import { type Fact, saysOfNumber, telephonesExactly } from '../answers.ts'
import { Fits, type Values } from '../changes.ts'
import { type Company, contactOf } from '../company.ts'
import type { CallRow, Table } from '../state.ts'

/** Rows that are changed in the job, each to other values. */
export const changed = <Row extends { readonly id: string }>(
  table: Table,
  rows: readonly Row[],
  set: (row: Row) => Values,
) => rows.map((row) => ({ table, id: row.id, set: set(row) }))

/** What is spoken with these variables; the reason where the template is broken. */
function spoken(template: unknown, variables: Readonly<Record<string, unknown>>): string {
  try {
    return render(String(template), variables).replaceAll(/\s+/g, ' ').trim()
  } catch (error) {
    return String(error)
  }
}

/** A greeting with which these sentences are spoken; line breaks and double spaces do not count. */
export const greetingThatSays = (
  cases: readonly { given: Readonly<Record<string, unknown>>; says: string }[],
): Fits =>
  new Fits(`a greeting that says ${cases.map(({ says }) => `"${says}"`).join(', ')}`, (template) =>
    cases.every(({ given, says }) => spoken(template, given) === says),
  )

/** A list of exactly these texts, in any order. */
export const listOf = (wanted: readonly string[]): Fits =>
  new Fits(
    wanted.join(', '),
    (value) =>
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((one) => value.includes(one)),
  )

/** A list with texts added and one taken out; what is there already is not there twice. */
export const edited = (list: readonly string[], add: readonly string[], without?: string): Fits =>
  listOf([...new Set([...list.filter((one) => one !== without), ...add])])

const mainLine = '+12025550110'

/** A call that is placed in the job; `greeted`: the name with which it begins. */
export const placed = (
  { rootId, agent }: Company,
  call: { agent: string; to: string; from?: string; greeted?: string },
) => ({
  table: 'calls' as const,
  about: `a call to ${call.to}`,
  row: {
    account_id: rootId,
    type: 'phone',
    agent_id: agent(call.agent).id,
    from_number: call.from ?? mainLine,
    to_number: call.to,
    ...(call.greeted !== undefined && { script: greets(call.greeted) }),
  },
})

const greets = (name: string) =>
  new Fits(`greets ${name}`, (script) => JSON.stringify(script).includes(`Hello ${name},`))

/** A subaccount that is made in the job. */
export const branch = ({ rootId }: Company, name: string) => ({
  table: 'accounts' as const,
  about: name,
  row: { name, parent_id: rootId, is_active: 1 },
})

/** The id of such a subaccount. */
export const accountNamed = (name: string) =>
  new Fits(name, (id, after) => after.accounts.find((account) => account.name === name)?.id === id)

/** A copy of an agent, which is made in the job. */
export const copyOf = (
  { config }: Company['agents'][number],
  account_id: string | Fits,
  changes: { readonly name: string },
) => ({
  table: 'agents' as const,
  about: changes.name,
  row: { account_id, is_archived: 0, config: { ...config, ...changes } },
})

/** One line for each call, with the number of the other side and this; and no further number. */
export const lineForEach = (
  calls: readonly CallRow[],
  right: (call: CallRow) => RegExp,
): Fact[] => [
  telephonesExactly(calls.map(contactOf).filter(Boolean)),
  ...calls.map((call) => saysOfNumber(contactOf(call), right(call))),
]

/** These words in this order, whatever stands between them but words. */
export const wordForWord = (text: string): RegExp =>
  new RegExp((text.match(/[\p{L}\d]+/gu) ?? []).join('[^\\p{L}\\d]+'), 'iu')

/** The facts of an answer from which something is taken out. */
export const without = (pattern: RegExp, facts: readonly Fact[]): Fact[] =>
  facts.map((fact) => (answer) => fact(answer.replaceAll(pattern, ' ')))
