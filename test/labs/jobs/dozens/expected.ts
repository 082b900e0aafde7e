import { render } from '../../../../src/jinja/index.ts'
import { Fits } from '../changes.ts'
import { companyOf } from '../company.ts'
import type { State } from '../state.ts'

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

/** Whether a list has exactly these texts, in any order. */
export const sameSet = (value: unknown, wanted: readonly string[]): boolean =>
  Array.isArray(value) &&
  value.length === wanted.length &&
  wanted.every((one) => value.includes(one))

const mainLine = '+12025550110'

/** A call that was placed in this job. */
export const placed = (
  before: State,
  { agent, to, from = mainLine }: { agent: string; to: string; from?: string },
) => ({
  table: 'calls' as const,
  about: `a call to ${to}`,
  row: {
    account_id: companyOf(before).rootId,
    type: 'phone',
    agent_id: companyOf(before).agent(agent).id,
    from_number: from,
    to_number: to,
  },
})

/** What is said in a call begins with the name of the person. */
export const greets = (name: string) =>
  new Fits(`greets ${name}`, (script) => JSON.stringify(script).includes(`Hello ${name},`))

/** The id of a subaccount that is made in the job. */
export const accountNamed = (name: string) =>
  new Fits(name, (id, after) => after.accounts.find((account) => account.name === name)?.id === id)
