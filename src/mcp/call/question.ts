import { bare, quoted, type Shown, say } from '../../text/quoted.ts'
import { Refused } from './refused.ts'

/** What is to be confirmed. */
export interface Confirmable {
  /** `calls` and `deletes` cannot be undone; `hides` (archiving, deactivating) can, with an update. */
  readonly kind: 'calls' | 'deletes' | 'hides'
  /** A question to a person: `Delete the number +49… ("Hotline")?` */
  readonly question: Shown
  /** What matters for the answer, in order, by names of our own. */
  readonly facts: Readonly<Record<string, Shown>>
  /** Arguments that change what is said or done: shown whole, or the question is not asked. */
  readonly values?: readonly Value[]
  /** What of the arguments is asked for: agreement holds for as long as that is the same. */
  readonly scope?: unknown
}

/** A value of an argument, as a line of a question. */
export interface Value {
  readonly about: Shown
  readonly text: Shown
  /** Where it is in the arguments, for errors. */
  readonly argument: string
}

/** All values of an argument, each with its dotted path: `overrides.volume.web: 0.5`. */
export function valuesOf(name: string, value: unknown): Value[] {
  return leaves(bare(name), value).map(([about, text]) => ({ about, text, argument: about }))
}

type Leaf = readonly [path: Shown, text: Shown]

function leaves(path: Shown, value: unknown): Leaf[] {
  if (typeof value === 'string') return [[path, quoted(value)]]
  if (typeof value === 'number' || typeof value === 'boolean' || value === null)
    return [[path, say`${value}`]]
  if (typeof value === 'object') {
    const entries = Object.entries(value)
    if (entries.length === 0) return [[path, Array.isArray(value) ? say`[]` : say`{}`]]
    return entries.flatMap(([name, field]) => leaves(say`${path}.${bare(name)}`, field))
  }
  // What is undefined is not sent, and arguments hold nothing else.
  return []
}

/** The lines under the question. */
export const linesOf = ({ facts, values = [] }: Confirmable): string[] => [
  ...Object.entries(facts).map(([name, text]) => `${name}: ${text}`),
  ...values.map(lineOf),
]

const lineOf = ({ about, text }: Value) => `${about}: ${text}`

/** The same for programs. */
export const shownFacts = ({ facts, values = [] }: Confirmable): Record<string, string> => ({
  ...facts,
  ...Object.fromEntries(values.map(({ about, text }) => [about, text])),
})

/**
 * The most that a person is shown to decide on: more is not read. Characters of one value and of
 * the whole question, as they are shown, and lines. What is longer is refused, not cut: what is left
 * out could be what matters.
 */
const mostShown = { value: 2000, question: 10_000, lines: 150 } as const

/** Throws Refused where the question is too long to be read; names what makes it so. */
export function refuseUnreadable(what: Confirmable): void {
  const { values = [] } = what
  const tooLong = values.filter((value) => lineOf(value).length > mostShown.value)
  if (tooLong.length > 0) {
    throw unreadable(
      tooLong.map((value) => ({
        argument: value.argument,
        message: `takes ${lineOf(value).length} characters to show, and ${mostShown.value} can be shown of one value; shorten it`,
      })),
    )
  }
  const lines = linesOf(what)
  const length = [what.question, ...lines].join('\n').length
  if (length <= mostShown.question && lines.length <= mostShown.lines) return
  throw unreadable([
    {
      argument: largest(values),
      message: `all values together take ${length} characters in ${lines.length} lines to show, and ${mostShown.question} in ${mostShown.lines} can be shown; give fewer or shorter ones, of a list of calls a part at a time`,
    },
  ])
}

const unreadable = (fields: Refused['advice']['fields']) =>
  new Refused(
    'bad_arguments',
    'a person is asked first, and cannot be shown all that is to be agreed to; nothing was sent',
    { fields },
  )

/** The argument that takes most of a question. */
function largest(values: readonly Value[]): string {
  const sizes = new Map<string, number>()
  for (const value of values) {
    const name = value.argument.split('.', 1)[0] ?? ''
    sizes.set(name, (sizes.get(name) ?? 0) + lineOf(value).length)
  }
  return [...sizes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'arguments'
}
