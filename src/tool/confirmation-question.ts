import {
  type CallToolResult,
  inputRequired,
  type ServerOptions,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type DecisionMeta, decisionMetaKey } from '../apps/decision.ts'
import { type DialogText, dialogText, quoted, wordOrQuoted } from '../text/dialog-text.ts'
import { Refused } from './refused.ts'

export interface Confirmable {
  /**
   * `calls` and `deletes` cannot be undone; `hides` (archiving, disabling) and `speaks` (a greeting
   * with gaps for several agents) can, with an update.
   */
  readonly kind: 'calls' | 'deletes' | 'hides' | 'speaks'
  /**
   * `hides` only. True: nothing in use would stop working, so the mode `auto` does not ask. Absent:
   * unknown.
   */
  readonly stopsNothing?: boolean
  /** A question to a person: `Delete the number +49… ("Hotline")?` */
  readonly question: DialogText
  /** Facts for the decision, most important first. */
  readonly facts: Readonly<Record<string, DialogText>>
  /**
   * Arguments that change the speech or the effect. Each value is shown in full, or the question is
   * refused.
   */
  readonly values?: readonly ShownArgument[]
  /** The exact scope of the agreement, which ends if it changes. */
  readonly scope?: unknown
}

/** A value of an argument, as a line of a question. */
export interface ShownArgument {
  readonly name: DialogText
  readonly text: DialogText
  /** The path in the arguments, for errors. */
  readonly argument: string
}

/** All values of an argument, each with its dotted path: `overrides.volume.web: 0.5`. */
export function valuesOf(name: string, value: unknown): ShownArgument[] {
  return leaves(wordOrQuoted(name), value).map(([name, text]) => ({ name, text, argument: name }))
}

type Leaf = readonly [path: DialogText, text: DialogText]

function leaves(path: DialogText, value: unknown): Leaf[] {
  if (typeof value === 'string') return [[path, quoted(value)]]
  if (typeof value === 'number' || typeof value === 'boolean' || value === null)
    return [[path, dialogText`${value}`]]
  if (typeof value === 'object') {
    const entries = Object.entries(value)
    if (entries.length === 0)
      return [[path, Array.isArray(value) ? dialogText`[]` : dialogText`{}`]]
    return entries.flatMap(([name, field]) =>
      leaves(dialogText`${path}.${wordOrQuoted(name)}`, field),
    )
  }
  // Only `undefined` is left, which has no lines because it is not sent.
  return []
}

/** The lines under the question. */
const linesOf = ({ facts, values = [] }: Confirmable): string[] => [
  ...Object.entries(facts).map(([name, text]) => `${name}: ${text}`),
  ...values.map(lineOf),
]

const lineOf = ({ name, text }: ShownArgument) => `${name}: ${text}`

/** Facts and values as fields, for programs. */
const shownFacts = ({ facts, values = [] }: Confirmable): Record<string, string> => ({
  ...facts,
  ...Object.fromEntries(values.map(({ name, text }) => [name, text])),
})

/**
 * Limits of a question: characters of one value and in all, and lines. A longer question is
 * refused, not shortened: the omitted part could be what matters.
 */
const maxShown = { value: 2000, question: 10_000, lines: 150 } as const

/** Throws Refused for a question that is too long, and names the largest argument. */
export function refuseUnreadable(what: Confirmable): void {
  const { values = [] } = what
  const tooLong = values.filter((value) => lineOf(value).length > maxShown.value)
  if (tooLong.length > 0) {
    throw unreadable(
      tooLong.map((value) => ({
        argument: value.argument,
        message: `takes ${lineOf(value).length} characters to show, and ${maxShown.value} can be shown of one value; shorten it`,
      })),
    )
  }
  const lines = linesOf(what)
  const length = [what.question, ...lines].join('\n').length
  if (length <= maxShown.question && lines.length <= maxShown.lines) return
  throw unreadable([
    {
      argument: largest(values),
      message: `all values together take ${length} characters in ${lines.length} lines to show, and ${maxShown.question} in ${maxShown.lines} can be shown; give fewer or shorter ones, of a list of calls a part at a time`,
    },
  ])
}

const unreadable = (fields: Refused['advice']['fields']) =>
  new Refused(
    'bad_arguments',
    'a person is asked first, and this is too long to show to them in full; nothing was sent',
    { fields },
  )

/** The argument with the longest text in the question. */
function largest(values: readonly ShownArgument[]): string {
  const sizes = new Map<string, number>()
  for (const value of values) {
    const name = value.argument.split('.', 1)[0] ?? ''
    sizes.set(name, (sizes.get(name) ?? 0) + lineOf(value).length)
  }
  return [...sizes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'arguments'
}

/** Fields of a result that reports a missing confirmation. */
export const confirmationShape = {
  confirmation: z
    .object({
      state: z
        .enum(['needed', 'declined', 'dismissed'])
        .describe(
          'needed: ask, then call again with the token; dismissed: asked, and left undecided.',
        ),
      question: z.string().describe('What the person is to agree to.'),
      facts: z.record(z.string(), z.string()).describe('What the decision depends on.'),
      confirm_token: z.string().optional().describe('For the second call; good once, for 2 min.'),
    })
    .optional()
    .describe('Nothing was done: confirmation is missing.'),
}

export interface Question {
  readonly question: string
  readonly lines: readonly string[]
  readonly facts: Record<string, string>
}

export const questionOf = (what: Confirmable, redact: (text: string) => string): Question => ({
  question: redact(what.question),
  lines: linesOf(what).map(redact),
  facts: Object.fromEntries(
    Object.entries(shownFacts(what)).map(([name, text]) => [redact(name), redact(text)]),
  ),
})

/** Asks the person in a form of the client (elicitation). */
export const ask = ({ question, lines }: Question, requestState: string) =>
  inputRequired({
    inputRequests: {
      confirm: inputRequired.elicit({
        message: [question, ...lines].join('\n'),
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Go ahead', default: true } },
          required: ['confirm'],
        },
      }),
    },
    requestState,
  })

/** Reason for a missing agreement. */
type NotAgreed = 'declined' | 'closed' | 'not accepted'

/** The result of a call that a person did not agree to. */
export function notAgreed({ question, facts }: Question, how: NotAgreed): CallToolResult {
  const state = how === 'declined' ? 'declined' : 'dismissed'
  return {
    content: [{ type: 'text', text: notAgreedTexts[how](question) }],
    structuredContent: { confirmation: { state, question, facts } },
  }
}

const notAgreedTexts: Readonly<Record<NotAgreed, (question: string) => string>> = {
  declined: (question) =>
    `Declined: the person was asked and did not agree: ${question} Nothing was done; do not try again unless they ask for it.`,
  // The form was closed without an answer, which is not a refusal.
  closed: (question) =>
    `Undecided: the person was asked and closed the question without an answer: ${question} Nothing was done; ask them whether they want it before you try again.`,
  // Some clients accept without showing the form, or leave out its content.
  'not accepted': (question) =>
    `Undecided: the person was asked, and the client's answer does not say yes (confirm: true): ${question} Nothing was decided. Nothing was done; ask them whether they want it before you try again.`,
}

/**
 * Preview with a confirmation token for the repeated call. `why`: the reason for a new preview;
 * `decision`: for the view that shows it.
 */
export function preview(
  { question, lines, facts }: Question,
  {
    tool,
    token,
    why,
    decision,
  }: { tool: string; token: string; why: string; decision: DecisionMeta | false },
): CallToolResult {
  const next = decision
    ? 'Next: wait; the person sees this with two buttons. Only if they agree in the conversation instead,'
    : 'Next: show this to the person. If they agree,'
  const text = [
    `${why}Nothing was done yet: this needs the agreement of a person. ${question}`,
    ...lines,
    `${next} call ${tool} again with the same arguments and confirm_token within two minutes.`,
    `confirm_token: ${token}`,
  ]
  return {
    content: [{ type: 'text', text: text.join('\n') }],
    structuredContent: {
      confirmation: { state: 'needed', question, facts, confirm_token: token },
    },
    ...(decision && { _meta: { [decisionMetaKey]: decision } }),
  }
}

/**
 * Validates a person's answer to a question against the question's JSON Schema. Uses zod, because
 * the SDK's default validator is half as large as the rest of the SDK.
 */
export const jsonSchemaValidator: NonNullable<ServerOptions['jsonSchemaValidator']> = {
  getValidator<T>(schema: object) {
    const type = z.fromJSONSchema({ ...schema })
    return (input: unknown) => {
      const { success, data, error } = type.safeParse(input)
      return success
        ? // Only the schema says what T is.
          { valid: true, data: data as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: z.prettifyError(error) }
    }
  },
}
