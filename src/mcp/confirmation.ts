import { createHash, randomBytes, randomUUID } from 'node:crypto'
import {
  type CallToolResult,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { canonical } from '../calls/canonical.ts'
import { plainText } from '../views/plain-text.ts'
import type { ConfirmMode } from './confirm-mode.ts'

/** What is to be confirmed. */
export interface Confirmable {
  /** `calls` and `deletes` cannot be undone at all, `hides` by hand only. */
  readonly kind: 'calls' | 'deletes' | 'hides'
  /** A question to a person: `Delete the number +49… (Hotline)?` */
  readonly question: string
  /** What matters for the answer, in order. */
  readonly facts: Readonly<Record<string, string>>
  /** What of the arguments is asked for: agreement holds for as long as that is the same. */
  readonly scope?: unknown
}

/** Asks for confirmation; returns when it is given, throws NotConfirmed when not, or not yet. */
export type Confirm = (what: Confirmable) => Promise<Agreement>

/** That a person agreed, or that nobody has to. */
export interface Agreement {
  /** Nothing came of it: the token is good for another try, within its time. */
  giveBack(): void
}

const needsNone: Agreement = { giveBack: () => undefined }

/** The tool does not go on, for now or at all; `result` is its answer. */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed'
  readonly result: CallToolResult | InputRequiredResult

  constructor(result: CallToolResult | InputRequiredResult) {
    super('Not confirmed')
    this.result = result
  }
}

/**
 * How long what was sealed is good for, seconds: a preview's token, and a question to a person, who
 * may be away from the desk (the SDK waits ten minutes for them, where it does the asking).
 */
const goodForSeconds = { token: 120, question: 660 }

/** Argument that carries the token of a preview: what takes it may ask. */
export const confirmName = 'confirm_token'

export const confirmOption = {
  [confirmName]: z.string().optional().describe('From the preview.'),
}

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

interface Sealed {
  /** Hash of tool, arguments, account and key. */
  readonly digest: string
  readonly nonce: string
}

/** The asking side of one server process: seals what was asked, and takes each answer once. */
export interface Confirmations {
  /** For one call. `digestOf` names everything that an answer is bound to. */
  of(call: ConfirmedCall): Confirm
}

export interface ConfirmedCall {
  readonly tool: string
  /** What the answer is bound to: arguments, account, key. */
  readonly bound: unknown
  /** The token of a preview, where the caller gave one. */
  readonly token: string | undefined
  /** Whether the client can ask a person (elicitation). */
  readonly canAsk: boolean
  readonly context: ServerContext
}

/** Answers that were used, kept for as long as they would be good. */
const mostUsed = 10_000

export function createConfirmations(mode: ConfirmMode): Confirmations {
  // Each with a key of its own: what is one is never taken for the other.
  const codecOf = (ttlSeconds: number) =>
    createRequestStateCodec<Sealed>({ key: randomBytes(32), ttlSeconds })
  const codecs = {
    token: codecOf(goodForSeconds.token),
    question: codecOf(goodForSeconds.question),
  }
  const used = new Map<string, number>()

  const isFirstUse = (nonce: string): boolean => {
    const now = Date.now()
    for (const [other, until] of used) {
      if (until > now && used.size < mostUsed) break
      used.delete(other)
    }
    if (used.has(nonce)) return false
    used.set(nonce, now + goodForSeconds.question * 1000)
    return true
  }

  const sealing = (kind: keyof typeof codecs, digest: string, context: ServerContext): Sealing => ({
    seal: () => codecs[kind].mint({ digest, nonce: randomUUID() }, context),
    async isGood(sealed) {
      const opened = await codecs[kind].verify(sealed, context).catch(() => undefined)
      const isGood = opened?.digest === digest && isFirstUse(opened.nonce)
      return isGood ? { giveBack: () => void used.delete(opened.nonce) } : undefined
    },
  })

  return {
    of:
      ({ tool, bound, token, canAsk, context }) =>
      async (asked) => {
        if (mode === 'never') return needsNone
        const what = inPlainText(asked)
        const digest = createHash('sha256')
          .update(canonical([tool, bound, asked.scope]))
          .digest('base64url')
        // Where a person can be asked, they are: a token shows only that somebody read a preview.
        if (canAsk) return answerOf(what, context, sealing('question', digest, context))
        if (what.kind === 'hides' && mode === 'auto') return needsNone
        const { seal, isGood } = sealing('token', digest, context)
        const agreement = token === undefined ? undefined : await isGood(token)
        if (agreement) return agreement
        throw new NotConfirmed(
          preview(tool, what, await seal(), token === undefined ? '' : notGood),
        )
      },
  }
}

const notGood =
  'The token was not good: it is for one use, within two minutes, with the very same arguments, while what they come to is the same. '

/** Seals what was asked of one call, and knows the seal again. */
interface Sealing {
  readonly seal: () => Promise<string>
  /** What was agreed to, if it is for this very call, still good, and used for the first time. */
  readonly isGood: (sealed: string) => Promise<Agreement | undefined>
}

/** The person's answer; without one that is good, the question. */
async function answerOf(what: Confirmable, { mcpReq }: ServerContext, { seal, isGood }: Sealing) {
  const answer = inputResponse(mcpReq.inputResponses, 'confirm')
  const state = mcpReq.requestState<unknown>()
  const agreement =
    answer.kind === 'elicit' && typeof state === 'string' ? await isGood(state) : undefined
  if (answer.kind === 'elicit' && agreement) {
    // A form sent off untouched has what it began with.
    const { confirm = true } = answer.content ?? {}
    if (answer.action === 'accept' && confirm === true) return agreement
    throw new NotConfirmed(answer.action === 'cancel' ? dismissed(what) : declined(what))
  }
  throw new NotConfirmed(
    inputRequired({
      inputRequests: {
        confirm: inputRequired.elicit({
          message: [what.question, ...factLines(what)].join('\n'),
          requestedSchema: {
            type: 'object',
            properties: { confirm: { type: 'boolean', title: 'Go ahead', default: true } },
            required: ['confirm'],
          },
        }),
      },
      requestState: await seal(),
    }),
  )
}

/** Longest fact shown, in characters: more of it hides the others. */
const longestFact = 500

/** Names come from elsewhere: none may pass for a fact of its own, or be read as another. */
function inPlainText({ kind, question, facts }: Confirmable): Confirmable {
  const plain = (text: string) => plainText(text).slice(0, longestFact)
  const shown = Object.entries(facts).map(([name, fact]) => [name, plain(fact)])
  return { kind, question: plain(question), facts: Object.fromEntries(shown) }
}

const factLines = ({ facts }: Confirmable) =>
  Object.entries(facts).map(([name, fact]) => `${name}: ${fact}`)

const declined = (what: Confirmable) =>
  notAgreed(
    what,
    'declined',
    `Declined: the person was asked "${what.question}" and did not agree. Nothing was done; do not try again unless they ask for it.`,
  )

/** A dialogue may also close because something else was clicked: nobody has said no. */
const dismissed = (what: Confirmable) =>
  notAgreed(
    what,
    'dismissed',
    `Undecided: the person was asked "${what.question}" and closed the question without an answer. Nothing was done; ask them whether they want it before you try again.`,
  )

const notAgreed = (
  { question, facts }: Confirmable,
  state: 'declined' | 'dismissed',
  text: string,
): CallToolResult => ({
  content: [{ type: 'text', text }],
  structuredContent: { confirmation: { state, question, facts: { ...facts } } },
})

function preview(tool: string, what: Confirmable, token: string, why = ''): CallToolResult {
  const { question, facts } = what
  const text = [
    `${why}Nothing was done yet: this needs the agreement of a person. ${question}`,
    ...factLines(what),
    `Next: show this to the person. If they agree, call ${tool} again with the same arguments and confirm_token within two minutes.`,
    `confirm_token: ${token}`,
  ]
  return {
    content: [{ type: 'text', text: text.join('\n') }],
    structuredContent: {
      confirmation: { state: 'needed', question, facts: { ...facts }, confirm_token: token },
    },
  }
}
