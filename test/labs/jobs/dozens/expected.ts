import { render } from '../../../../src/jinja/index.ts'
import { type Fact, saysOfNumber, telephonesExactly } from '../answer-checks.ts'
import { Fits, type Values } from '../changes.ts'
import { type Company, contactOf } from '../company-lookups.ts'
import type { CallRow, Table } from '../company-rows.ts'

/** Expected changes of rows, each with its own values. */
export const changed = <Row extends { readonly id: string }>(
  table: Table,
  rows: readonly Row[],
  set: (row: Row) => Values,
) => rows.map((row) => ({ table, id: row.id, set: set(row) }))

/** The greeting rendered with these variables, or the rendering error. */
function spoken(template: unknown, variables: Readonly<Record<string, unknown>>): string {
  try {
    return render(String(template), variables).replaceAll(/\s+/g, ' ').trim()
  } catch (error) {
    return String(error)
  }
}

/**
 * Expects a greeting that renders to these sentences. Line breaks and double spaces do not count.
 */
export const greetingThatSays = (
  cases: readonly { given: Readonly<Record<string, unknown>>; says: string }[],
): Fits =>
  new Fits(`a greeting that says ${cases.map(({ says }) => `"${says}"`).join(', ')}`, (template) =>
    cases.every(({ given, says }) => spoken(template, given) === says),
  )

/** Expects a list of exactly these texts, in any order. */
export const listOf = (wanted: readonly string[]): Fits =>
  new Fits(
    wanted.join(', '),
    (value) =>
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((one) => value.includes(one)),
  )

/** Expects a list with `add` added, without duplicates, and `without` removed. */
export const edited = (list: readonly string[], add: readonly string[], without?: string): Fits =>
  listOf([...new Set([...list.filter((one) => one !== without), ...add])])

const mainLine = '+12025550110'

/** Expects a placed telephone call. `greeted`: the name at its beginning. */
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

/** Expects a new subaccount. */
export const branch = ({ rootId }: Company, name: string) => ({
  table: 'accounts' as const,
  about: name,
  row: { name, parent_id: rootId, is_active: 1 },
})

/** Expects the id of the new subaccount with this name. */
export const accountNamed = (name: string) =>
  new Fits(name, (id, after) => after.accounts.find((account) => account.name === name)?.id === id)

/** Expects a copy of an agent. */
export const copyOf = (
  { config }: Company['agents'][number],
  account_id: string | Fits,
  changes: { readonly name: string },
) => ({
  table: 'agents' as const,
  about: changes.name,
  row: { account_id, is_archived: 0, config: { ...config, ...changes } },
})

/**
 * Expects one line per telephone call, with the other party's number and a text, and no further
 * numbers.
 */
export const lineForEach = (
  calls: readonly CallRow[],
  right: (call: CallRow) => RegExp,
): Fact[] => [
  telephonesExactly(calls.map(contactOf).filter(Boolean)),
  ...calls.map((call) => saysOfNumber(contactOf(call), right(call))),
]

/** Words of the jobs for the reason of a failed call, by its answer status. */
export const failureReasons = {
  user_unavailable: 'nobody answered',
  user_busy: 'busy',
  user_rejected: 'declined',
} as const

/** Matches these words in this order, without other words between them. */
export const wordForWord = (text: string): RegExp =>
  new RegExp((text.match(/[\p{L}\d]+/gu) ?? []).join('[^\\p{L}\\d]+'), 'iu')

/** Applies facts to the answer without the text that `pattern` matches. */
export const without = (pattern: RegExp, facts: readonly Fact[]): Fact[] =>
  facts.map((fact) => (answer) => fact(answer.replaceAll(pattern, ' ')))
