import { type CallToolResult, inputRequired } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type Confirmable, linesOf, shownFacts } from './confirmation-question.ts'

/** Part of a result which says that the tool did nothing, or nothing yet. */
export const confirmationShape = {
  confirmation: z
    .object({
      state: z
        .enum(['needed', 'declined', 'dismissed'])
        .describe(
          'needed: ask, then call again with the token; dismissed: asked, and left undecided.',
        ),
      question: z.string().describe('What the person is to agree to.'),
      facts: z.record(z.string(), z.string()).describe('What matters for it.'),
      confirm_token: z.string().optional().describe('For the second call; good once, for 2 min.'),
    })
    .optional()
    .describe('Present when nothing was done for want of agreement.'),
}

/** A question as it is shown. */
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

/** Asks the person by a form of the client (elicitation). */
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

export const declined = (question: Question) =>
  notAgreed(
    question,
    'declined',
    `Declined: the person was asked and did not agree: ${question.question} Nothing was done; do not try again unless they ask for it.`,
  )

/** The form was closed without an answer, which is not a no. */
export const dismissed = (question: Question) =>
  notAgreed(
    question,
    'dismissed',
    `Undecided: the person was asked and closed the question without an answer: ${question.question} Nothing was done; ask them whether they want it before you try again.`,
  )

/** Some clients accept without showing the form, or leave out its content. */
export const withoutYes = (question: Question) =>
  notAgreed(
    question,
    'dismissed',
    `Undecided: the person was asked, and the client's answer does not say yes (confirm: true): ${question.question} Nothing was decided. Nothing was done; ask them whether they want it before you try again.`,
  )

const notAgreed = (
  { question, facts }: Question,
  state: 'declined' | 'dismissed',
  text: string,
): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: { confirmation: { state, question, facts } },
})

/** What to show to the person, and a token to come back with; `why` says why it is needed again. */
export function preview(
  { question, lines, facts }: Question,
  { tool, token, why }: { tool: string; token: string; why: string },
): CallToolResult {
  const text = [
    `${why}Nothing was done yet: this needs the agreement of a person. ${question}`,
    ...lines,
    `Next: show this to the person. If they agree, call ${tool} again with the same arguments and confirm_token within two minutes.`,
    `confirm_token: ${token}`,
  ]
  return {
    content: [{ type: 'text', text: text.join('\n') }],
    structuredContent: {
      confirmation: { state: 'needed', question, facts, confirm_token: token },
    },
  }
}
