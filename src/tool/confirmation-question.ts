import {
  type CallToolResult,
  inputRequired,
  type ServerOptions,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type DecisionMeta, decisionMetaKey } from '../apps/views.ts'
import { type DialogText, dialogText, quoted, wordOrQuoted } from '../text/dialog-text.ts'
import { Refused } from './refused.ts'

export interface Confirmable {
  /**
   * What the action does. `calls` and `deletes` cannot be undone. `hides` (archiving, disabling)
   * and `speaks` (a greeting with gaps for several agents) can be undone with an update.
   */
  readonly kind: 'calls' | 'deletes' | 'hides' | 'speaks'
  /**
   * Only used with `hides`. True if nothing in use would stop working; the mode `auto` then does
   * not ask. Absent if this is not known.
   */
  readonly stopsNothing?: boolean
  /** Only for `hides`: whether it is hidden already. Absent: not known. */
  readonly isDone?: boolean | undefined
  /** A question to a person: `Delete the number +49… ("Hotline")?` */
  readonly question: DialogText
  /** Facts that the decision depends on, most important first. */
  readonly facts: Readonly<Record<string, DialogText>>
  /**
   * Arguments that change the speech or the effect. A question that cannot show each value in full
   * is refused.
   */
  readonly values?: readonly ShownArgument[]
  /** The confirmation is bound to this value. If it changes, the confirmation is void. */
  readonly scope?: unknown
}

/** An argument's value, as a line of a question. */
export interface ShownArgument {
  readonly name: DialogText
  readonly text: DialogText
  /** Path in the arguments, for errors. */
  readonly argument: string
}

/** All values of an argument, by dotted path: `overrides.volume.web: 0.5`. */
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
  // The value is `undefined`, which is not sent and has no line.
  return []
}

/** The lines under the question. */
const linesOf = ({ facts, values = [] }: Confirmable): string[] => [
  ...Object.entries(facts).map(([name, text]) => `${name}: ${text}`),
  ...values.map(lineOf),
]

const lineOf = ({ name, text }: ShownArgument) => `${name}: ${text}`

/** Facts and values as fields of a result, for programs. */
const shownFacts = ({ facts, values = [] }: Confirmable): Record<string, string> => ({
  ...facts,
  ...Object.fromEntries(values.map(({ name, text }) => [name, text])),
})

/**
 * Limits of a question: characters of one value, characters in total, and lines. A longer question
 * is refused, not shortened, because the omitted part could be what matters.
 */
const maxShown = { value: 2000, question: 10_000, lines: 150 } as const

/** Throws Refused for a question that is too long. The error names the largest argument. */
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

/** Fields of a result that asks for a missing confirmation. */
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

/** Asks the person in a form that the client shows (elicitation). */
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

/** Reason why there is no confirmation. */
type NotAgreed = 'declined' | 'closed' | 'not accepted'

/** The result of a tool call that a person did not confirm. */
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
  // The person closed the form without an answer, which is not a refusal.
  closed: (question) =>
    `Undecided: the person was asked and closed the question without an answer: ${question} Nothing was done; ask them whether they want it before you try again.`,
  // Some clients report acceptance without showing the form, or omit its content.
  'not accepted': (question) =>
    `Undecided: the person was asked, and the client's answer does not say yes (confirm: true): ${question} Nothing was decided. Nothing was done; ask them whether they want it before you try again.`,
}

/**
 * Preview with a confirmation token for the repeated tool call. `why`: the reason for a new
 * preview. `decision`: data for the view that shows the preview.
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
 * Validates a person's answer against the question's JSON Schema. Uses zod, because the default
 * validator of the MCP SDK would add half the SDK's size.
 */
export const jsonSchemaValidator: NonNullable<ServerOptions['jsonSchemaValidator']> = {
  getValidator<T>(schema: object) {
    const type = z.fromJSONSchema({ ...schema })
    return (input: unknown) => {
      const { success, data, error } = type.safeParse(input)
      return success
        ? // The caller's schema determines T.
          { valid: true, data: data as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: z.prettifyError(error) }
    }
  },
}
