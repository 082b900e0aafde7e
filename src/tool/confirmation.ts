import { createHash } from 'node:crypto'
import {
  type CallToolResult,
  type InputRequiredResult,
  inputResponse,
  ProtocolError,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { RouteRequest } from '../contract/route.ts'
import { canonicalJson } from '../text/json.ts'
import { type ConfirmMode, confirmName } from './confirm-mode.ts'
import {
  ask,
  type Confirmable,
  notAgreed,
  preview,
  type Question,
  questionOf,
  refuseUnreadable,
} from './confirmation-question.ts'
import { badArguments, Refused } from './refused.ts'
import {
  createSingleUseTokens,
  type SingleUseTokens,
  type TokenContent,
  type TokenStore,
  type TokenSubject,
} from './single-use-tokens.ts'

/*
 * Confirmation: calls, deletes, archiving and disabling need an agreement. Whether they do depends
 * on the mode and the action alone, never on the client: clients that can ask a person do so
 * (elicitation); other callers get a preview with a `confirm_token` to come back with.
 */

/**
 * Asks for confirmation. Throws NotConfirmed if it is refused or still missing. A function is
 * called only if confirmation may be needed: in the mode `never` it reads nothing.
 */
export type Confirm = (what: Confirmable | (() => Promise<Confirmable>)) => Promise<Agreement>

/** Confirmed, or confirmation is not needed. */
export interface Agreement {
  /**
   * A person in a form of the client, or the caller with a preview's token. `off`: the operator wants
   * no confirmation; `not_needed`: this action needs none.
   */
  readonly by: 'person' | 'token' | 'off' | 'not_needed'
  /**
   * Nothing was done: the token becomes valid again until it expires. Never throws; if it fails,
   * the token stays used.
   */
  giveBack(): Promise<void>
}

const withoutAsking = (by: 'off' | 'not_needed'): Agreement => ({
  by,
  giveBack: async () => undefined,
})

/** The tool stops, and `result` is the answer. */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed'
  readonly result: CallToolResult | InputRequiredResult

  constructor(result: CallToolResult | InputRequiredResult) {
    super('Not confirmed')
    this.result = result
  }
}

/**
 * Lifetime of a preview's token and of a question, s. A person may be away: the SDK itself waits
 * ten minutes.
 */
const ttlSeconds = { preview: 120, question: 660 }

export const confirmOption = {
  [confirmName]: z.string().optional().describe('Only to confirm: the token of the preview.'),
}

/** Each token and each answer counts once, on all servers of a state. */
export interface Confirmations {
  /** Throws ProtocolError if the request answers a question of another call. */
  of(call: ConfirmedCall): Promise<Confirm>
  /**
   * Verifies the `requestState` of a request; throws if it is invalid. Runs before anything else.
   */
  verifyRequestState(requestState: string): Promise<TokenContent>
}

/** Earlier question that a request answers. */
export interface EarlierQuestion {
  /** The content of its `requestState`, verified and not expired. */
  readonly requestState: TokenContent | undefined
  readonly answers: Readonly<Record<string, unknown>> | undefined
}

export interface ConfirmedCall {
  readonly tool: string
  /** The scope of the answer: arguments, account, key. */
  readonly bound: unknown
  /** Used tokens are counted per keyHash. */
  readonly keyHash: string
  /** The `confirm_token` of a preview. */
  readonly token: string | undefined
  /** True if the client can ask a person (elicitation). */
  readonly canAsk: boolean
  /** Removes the API key from outside texts. */
  readonly redact: (text: string) => string
  readonly earlier: EarlierQuestion
}

interface UnconfirmedCall {
  readonly tool: string
  readonly keyHash: string
  readonly question: Question
  readonly content: TokenSubject
}

export function createConfirmations(mode: ConfirmMode, store: TokenStore): Confirmations {
  const questionTokens = createSingleUseTokens('question to a person', ttlSeconds.question, store)
  const previewTokens = createSingleUseTokens('confirm_token', ttlSeconds.preview, store)
  return {
    verifyRequestState: questionTokens.verify,
    async of({ tool, bound, keyHash, token, canAsk, redact, earlier }) {
      const call = () => hashOf([tool, bound])
      const { requestState: asked } = earlier
      if (asked && (asked.call !== call() || (await questionTokens.isUsed(asked))))
        throw invalidRequestState()
      return async (given) => {
        if (mode === 'never') return withoutAsking('off')
        if (!canAsk && mode === 'person') throw needsPerson()
        const what = typeof given === 'function' ? await given() : given
        if (mode === 'auto' && what.kind === 'hides' && what.stopsNothing)
          return withoutAsking('not_needed')
        refuseUnreadable(what)
        const content = { call: call(), scope: hashOf(what.scope) }
        const question = questionOf(what, redact)
        const unconfirmed: UnconfirmedCall = { tool, keyHash, question, content }
        // Prefers a person: a token proves only that somebody read a preview.
        return canAsk
          ? agreementByAnswer(unconfirmed, earlier, questionTokens)
          : agreementByToken(unconfirmed, token, previewTokens)
      }
    },
  }
}

/** 128 bits, because a model must repeat the token. */
const hashOf = (value: unknown) =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, 22)

/** The same code and reason as for an invalid state. */
const invalidRequestState = () =>
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

/** Checks the `confirm_token`; if it is missing or invalid, returns a preview with a new one. */
async function agreementByToken(
  { tool, keyHash, question, content }: UnconfirmedCall,
  token: string | undefined,
  tokens: SingleUseTokens,
): Promise<Agreement> {
  const given = token === undefined ? undefined : await tokens.verify(token).catch(() => undefined)
  const isForThis = given?.call === content.call && given.scope === content.scope
  if (given && isForThis && (await tokens.use(given, keyHash)))
    return agreementWith(given, tokens, 'token')
  const why = token === undefined ? '' : invalidToken
  const newToken = await tokens.mint(content)
  throw new NotConfirmed(preview(question, { tool, token: newToken, why }))
}

const agreementWith = (
  used: TokenContent,
  tokens: SingleUseTokens,
  by: Agreement['by'],
): Agreement => ({
  by,
  giveBack: () => tokens.giveBack(used).catch(() => undefined),
})

const invalidToken =
  'The token is not valid: it is for one use, within two minutes, with exactly the same arguments, while their effect is the same. '

/** The person's answer, or the question if it is not answered yet. */
async function agreementByAnswer(
  { keyHash, question, content }: UnconfirmedCall,
  { requestState: asked, answers }: EarlierQuestion,
  tokens: SingleUseTokens,
): Promise<Agreement> {
  const answer = inputResponse(answers, 'confirm')
  // The effect of the same arguments may have changed since: that is another question.
  if (answer.kind !== 'elicit' || asked?.scope !== content.scope)
    throw new NotConfirmed(ask(question, await tokens.mint(content)))
  if (!(await tokens.use(asked, keyHash))) throw invalidRequestState()
  if (answer.action === 'decline') throw new NotConfirmed(notAgreed(question, 'declined'))
  if (answer.action === 'cancel') throw new NotConfirmed(notAgreed(question, 'closed'))
  if (answer.action !== 'accept' || answer.content?.confirm !== true)
    throw new NotConfirmed(notAgreed(question, 'not accepted'))
  return agreementWith(asked, tokens, 'person')
}

/**
 * Irreversible actions on something given by name need confirmation. Without it, they take the id
 * only. Throws Refused.
 */
export function refuseUnconfirmedName(
  {
    named,
    request,
  }: {
    readonly named: Readonly<Record<string, string>>
    readonly request: Pick<RouteRequest, 'params'>
  },
  { by }: Agreement,
  argument: 'phone_number_id' | 'sip_trunk_id',
): void {
  const name = named[argument]
  if (by === 'person' || by === 'token' || name === undefined) return
  const message = `give the id, because nobody is asked before a delete here (--confirm never): ${name} has the id ${request.params[argument]}`
  throw badArguments([{ argument, message }])
}
