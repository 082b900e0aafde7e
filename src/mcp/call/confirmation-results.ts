import { type CallToolResult, inputRequired } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { type Confirmable, linesOf, shownFacts } from './question.ts'

/** Part of a result in which a tool says that it did nothing yet, or nothing at all. */
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

/** What is asked, as it is shown. */
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

export const question = ({ question: asked, lines }: Question, requestState: string) =>
  inputRequired({
    inputRequests: {
      confirm: inputRequired.elicit({
        message: [asked, ...lines].join('\n'),
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Go ahead', default: true } },
          required: ['confirm'],
        },
      }),
    },
    requestState,
  })

export const declined = (shown: Question) =>
  notAgreed(
    shown,
    'declined',
    `Declined: the person was asked and did not agree: ${shown.question} Nothing was done; do not try again unless they ask for it.`,
  )

/** A dialogue may also close because something else was clicked: nobody has said no. */
export const dismissed = (shown: Question) =>
  notAgreed(
    shown,
    'dismissed',
    `Undecided: the person was asked and closed the question without an answer: ${shown.question} Nothing was done; ask them whether they want it before you try again.`,
  )

/** Some clients accept for a person who was shown no form, or leave out what the form held. */
export const withoutYes = (shown: Question) =>
  notAgreed(
    shown,
    'dismissed',
    `Undecided: the person was asked, and the client's answer does not say yes (confirm: true): ${shown.question} Nothing was decided. Nothing was done; ask them whether they want it before you try again.`,
  )

const notAgreed = (
  { question: asked, facts }: Question,
  state: 'declined' | 'dismissed',
  text: string,
): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: { confirmation: { state, question: asked, facts } },
})

/** What is to be shown to the person, and the token to come back with; `why` it is needed again. */
export function preview(
  { question: asked, lines, facts }: Question,
  { tool, token, why }: { tool: string; token: string; why: string },
): CallToolResult {
  const text = [
    `${why}Nothing was done yet: this needs the agreement of a person. ${asked}`,
    ...lines,
    `Next: show this to the person. If they agree, call ${tool} again with the same arguments and confirm_token within two minutes.`,
    `confirm_token: ${token}`,
  ]
  return {
    content: [{ type: 'text', text: text.join('\n') }],
    structuredContent: {
      confirmation: { state: 'needed', question: asked, facts, confirm_token: token },
    },
  }
}
