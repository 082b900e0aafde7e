import { createHash } from 'node:crypto'
import {
  type CallToolResult,
  type InputRequiredResult,
  inputResponse,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { canonicalJson } from '../../json/canonical-json.ts'
import type { UsedSeals } from '../../state/used-seals.ts'
import { type ConfirmMode, confirmName } from './confirm-mode.ts'
import {
  declined,
  dismissed,
  preview,
  type Question,
  question,
  questionOf,
  withoutYes,
} from './confirmation-results.ts'
import { type Confirmable, refuseUnreadable } from './question.ts'
import { Refused } from './refused.ts'
import { createSeals, type Sealed, type Seals } from './seals.ts'

/** Asks for confirmation; returns when it is given, throws NotConfirmed when not, or not yet. */
export type Confirm = (what: Confirmable) => Promise<Agreement>

/** That a person agreed, or that nobody has to. */
export interface Agreement {
  /** Nothing came of it: the token is good for another try, within its time. */
  giveBack(): Promise<void>
}

const needsNone: Agreement = { giveBack: async () => undefined }

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

export const confirmOption = {
  [confirmName]: z.string().optional().describe('From the preview.'),
}

/** The asking side of one server process: seals what was asked, and takes each answer once. */
export interface Confirmations {
  /** For one call. Throws ProtocolError where the request answers a question of another call. */
  of(call: ConfirmedCall): Promise<Confirm>
  /** Opens the `requestState` of a request before anything is done with it; throws if it cannot. */
  open(state: string, context: ServerContext): Promise<Sealed>
}

export interface ConfirmedCall {
  readonly tool: string
  /** What the answer is bound to: arguments, account, key. */
  readonly bound: unknown
  /** Whose call it is: uses of tokens are counted for each. */
  readonly owner: string
  /** The token of a preview, where the caller gave one. */
  readonly token: string | undefined
  /** Whether the client can ask a person (elicitation). */
  readonly canAsk: boolean
  /** Takes the key out of what comes from elsewhere. */
  readonly redact: (text: string) => string
  readonly context: ServerContext
}

/** One call while it is asked about. */
interface Asked {
  readonly tool: string
  readonly owner: string
  readonly context: ServerContext
  readonly shown: Question
  readonly seal: Omit<Sealed, 'nonce'>
}

export function createConfirmations(mode: ConfirmMode, usedSeals: UsedSeals): Confirmations {
  const questions = createSeals(goodForSeconds.question, usedSeals)
  const tokens = createSeals(goodForSeconds.token, usedSeals)
  return {
    open: questions.open,
    async of({ tool, bound, owner, token, canAsk, redact, context }) {
      const call = once(() => hashOf([tool, bound]))
      // Opened before the call by `open`: it is a seal of this server that has not expired.
      const state = context.mcpReq.requestState<Sealed>()
      if (state && (state.call !== call() || (await questions.isUsed(state)))) throw notForThis()
      return async (what) => {
        if (mode === 'never') return needsNone
        if (!canAsk && mode === 'person') throw needsPerson()
        if (!canAsk && mode === 'auto' && what.kind === 'hides') return needsNone
        refuseUnreadable(what)
        const seal = { call: call(), scope: hashOf(what.scope) }
        const asked: Asked = { tool, owner, context, shown: questionOf(what, redact), seal }
        // Where a person can be asked, they are: a token shows only that somebody read a preview.
        return canAsk ? answerOf(asked, state, questions) : tokenOf(asked, token, tokens)
      }
    },
  }
}

const hashOf = (value: unknown) =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url')

/** The same code and reason as for a state that cannot be opened. */
const notForThis = () =>
  new ProtocolError(
    -32602,
    'Invalid requestState: it belongs to another request, or was answered before. This request did nothing; call the tool again without it.',
    { reason: 'invalid_request_state' },
  )

const needsPerson = () =>
  new Refused(
    'needs_person',
    'this server asks a person before this, and this client cannot ask one: it does not offer elicitation, or speaks a revision before 2026-07-28 over HTTP, where a server cannot ask. Nothing was done',
    {
      next: 'Tell the user. They can use a client that asks (with elicitation, over stdio or with revision 2026-07-28), or the operator of this server can change --confirm (VOICE_AGENT_CONFIRM). Do not look for a way around it.',
    },
  )

/** The agreement that a token stands for; without one that is good, a preview with a new one. */
async function tokenOf(asked: Asked, token: string | undefined, tokens: Seals): Promise<Agreement> {
  const { context, owner, seal } = asked
  const opened =
    token === undefined ? undefined : await tokens.open(token, context).catch(() => undefined)
  const isFor = opened?.call === seal.call && opened.scope === seal.scope
  if (opened && isFor && (await tokens.use(opened, owner)))
    return { giveBack: () => tokens.giveBack(opened) }
  const why = token === undefined ? '' : notGood
  const again = { tool: asked.tool, token: await tokens.seal(seal, context), why }
  throw new NotConfirmed(preview(asked.shown, again))
}

const notGood =
  'The token was not good: it is for one use, within two minutes, with the very same arguments, while what they come to is the same. '

/** The person's answer; where there is none to this question, the question. */
async function answerOf(
  asked: Asked,
  state: Sealed | undefined,
  questions: Seals,
): Promise<Agreement> {
  const { context, owner, shown, seal } = asked
  const answer = inputResponse(context.mcpReq.inputResponses, 'confirm')
  // What the same arguments come to may have changed since: that is another question.
  if (answer.kind !== 'elicit' || state?.scope !== seal.scope)
    throw new NotConfirmed(question(shown, await questions.seal(seal, context)))
  if (!(await questions.use(state, owner))) throw notForThis()
  if (answer.action === 'decline') throw new NotConfirmed(declined(shown))
  if (answer.action === 'cancel') throw new NotConfirmed(dismissed(shown))
  if (answer.action !== 'accept' || answer.content?.confirm !== true)
    throw new NotConfirmed(withoutYes(shown))
  return { giveBack: () => questions.giveBack(state) }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
