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
import type { ConfirmMode } from './confirm-mode.ts'

/** What is to be confirmed. */
export interface Confirmable {
  /** `calls` and `deletes` cannot be undone at all, `hides` by hand only. */
  readonly kind: 'calls' | 'deletes' | 'hides'
  /** A question to a person: `Delete the number +49… (Hotline)?` */
  readonly question: string
  /** What matters for the answer, in order. */
  readonly facts: Readonly<Record<string, string>>
}

/** Asks for confirmation; returns when it is given, throws NotConfirmed when not, or not yet. */
export type Confirm = (what: Confirmable) => Promise<void>

/** The tool does not go on, for now or at all; `result` is its answer. */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed'
  readonly result: CallToolResult | InputRequiredResult

  constructor(result: CallToolResult | InputRequiredResult) {
    super('Not confirmed')
    this.result = result
  }
}

/** How long an answer and a preview's token are good for, seconds. */
const goodForSeconds = 120

/** Argument that carries the token of a preview. */
export const confirmOption = {
  confirm_token: z.string().optional().describe('From the preview.'),
}

/** Part of a result in which a tool says that it did nothing yet, or nothing at all. */
export const confirmationShape = {
  confirmation: z
    .object({
      state: z
        .enum(['needed', 'declined'])
        .describe('needed: ask, then call again with the token.'),
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
  const codec = createRequestStateCodec<Sealed>({
    key: randomBytes(32),
    ttlSeconds: goodForSeconds,
  })
  const used = new Map<string, number>()

  const isFirstUse = (nonce: string): boolean => {
    const now = Date.now()
    for (const [other, until] of used) {
      if (until > now && used.size < mostUsed) break
      used.delete(other)
    }
    if (used.has(nonce)) return false
    used.set(nonce, now + goodForSeconds * 1000)
    return true
  }

  /** Whether a sealed text is for this very call, still good, and used for the first time. */
  const isGood = async (sealed: string, digest: string, context: ServerContext) => {
    const opened = await codec.verify(sealed, context).catch(() => undefined)
    return opened !== undefined && opened.digest === digest && isFirstUse(opened.nonce)
  }

  return {
    of:
      ({ tool, bound, token, canAsk, context }) =>
      async (what) => {
        if (mode === 'never') return
        const digest = createHash('sha256')
          .update(JSON.stringify([tool, bound]))
          .digest('base64url')
        const seal = () => codec.mint({ digest, nonce: randomUUID() }, context)
        if (token !== undefined) {
          if (await isGood(token, digest, context)) return
          throw new NotConfirmed(
            preview(
              tool,
              what,
              await seal(),
              'The token was not good: it is for one use, within two minutes, with the very same arguments. ',
            ),
          )
        }
        if (canAsk) return answerOf(what, { digest, context, isGood, seal })
        if (what.kind === 'hides' && mode === 'auto') return
        throw new NotConfirmed(preview(tool, what, await seal()))
      },
  }
}

interface Asking {
  readonly digest: string
  readonly context: ServerContext
  readonly isGood: (sealed: string, digest: string, context: ServerContext) => Promise<boolean>
  readonly seal: () => Promise<string>
}

/** The person's answer; without one that is good, the question. */
async function answerOf(what: Confirmable, { digest, context, isGood, seal }: Asking) {
  const answer = inputResponse(context.mcpReq.inputResponses, 'confirm')
  const state = context.mcpReq.requestState<unknown>()
  const isAnswer = answer.kind === 'elicit' && typeof state === 'string'
  if (isAnswer && (await isGood(state, digest, context))) {
    if (answer.action === 'accept' && answer.content?.confirm !== false) return
    throw new NotConfirmed(declined(what))
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

const factLines = ({ facts }: Confirmable) =>
  Object.entries(facts).map(([name, fact]) => `${name}: ${fact}`)

function declined(what: Confirmable): CallToolResult {
  const { question, facts } = what
  return {
    content: [
      {
        type: 'text',
        text: `Declined: the person was asked "${question}" and did not agree. Nothing was done; do not try again unless they ask for it.`,
      },
    ],
    structuredContent: { confirmation: { state: 'declined', question, facts: { ...facts } } },
  }
}

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
