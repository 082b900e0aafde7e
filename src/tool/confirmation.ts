import {
  type CallToolResult,
  type InputRequiredResult,
  inputResponse,
  ProtocolError,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { checkPrefix, type RefusedToken } from '../apps/views.ts'
import type { RouteRequest } from '../contract/route.ts'
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
import { badArgument, Refused } from './refused.ts'
import {
  createSingleUseTokens,
  newNonce,
  type SingleUseToken,
  type SingleUseTokens,
  type TokenStore,
} from './single-use-tokens.ts'

/*
 * Confirmation of calls, deletes, archiving and disabling, and of doubtful greetings for several
 * agents. Whether an action needs confirmation depends only on the mode and the action, never on
 * the client. Clients that can ask a person do so (elicitation). Other callers get a preview, and
 * confirm it by repeating the tool call with its `confirm_token`.
 */

/**
 * Asks for confirmation. Throws NotConfirmed if it is refused or still missing. Pass a function if
 * the question needs requests: the function is called only if confirmation may be needed.
 */
export type Confirm = (what: Confirmable | (() => Promise<Confirmable>)) => Promise<Agreement>

/** An action that was confirmed, or that needs no confirmation. */
export interface Agreement {
  /**
   * Who confirmed. `person`: a person, in a form of the client. `token`, `view`: the client, which
   * repeated the tool call with the token of the preview's text or of its view; neither proves that
   * a person was asked. `off`: nobody, because the operator turned confirmation off. `not_needed`:
   * nobody, because this action needs no confirmation.
   */
  readonly by: 'person' | 'token' | 'view' | 'off' | 'not_needed'
  /**
   * Makes the token valid again until it expires, after an action that was not done. Never throws.
   * If it fails, the token stays used.
   */
  giveBack(): Promise<void>
}

/**
 * Ends the tool call. `result` goes to the client: a question, a preview, or the person's refusal. The
 * answer to a question or a preview runs all steps of the tool call again.
 */
export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed'
  readonly result: CallToolResult | InputRequiredResult

  constructor(result: CallToolResult | InputRequiredResult) {
    super('Not confirmed')
    this.result = result
  }
}

/**
 * Lifetimes of a preview's token, of a question and of a view's token, s. A person may be away: the
 * MCP SDK itself waits ten minutes.
 */
const ttlSeconds = { preview: 120, question: 660, view: 660 }

export const confirmOption = {
  [confirmName]: z.string().optional().describe('Only to confirm: the token of the preview.'),
}

/** Each token and each answer works once, across all servers that share a state. */
export interface Confirmations {
  /**
   * Returns the function that asks in this tool call. Throws ProtocolError if the request answers
   * the question of another call.
   */
  of(call: ConfirmedCall): Promise<Confirm>
  /**
   * Verifies the `requestState` of a request, before anything else. Throws if it is invalid; the
   * message is `expired` for a state that was valid before.
   */
  verifyRequestState(requestState: string): Promise<SingleUseToken>
}

/** The earlier question that a request answers. */
export interface EarlierQuestion {
  /** The question's `requestState`, verified and not expired. */
  readonly requestState: SingleUseToken | undefined
  readonly answers: Readonly<Record<string, unknown>> | undefined
}

export interface ConfirmedCall {
  readonly tool: string
  /** The answer is bound to these values: arguments, account and API key. */
  readonly bound: unknown
  /** Hash of the API key. Used tokens are counted per key. */
  readonly keyHash: string
  /** The `confirm_token` of a preview. */
  readonly token: string | undefined
  /** How the client can ask a person: in a form (elicitation), or with buttons in a view. */
  readonly asksIn: 'form' | 'view' | undefined
  /** Removes the API key from outside texts. */
  readonly redact: (text: string) => string
  readonly earlier: EarlierQuestion
}

interface UnconfirmedCall extends ConfirmedCall {
  readonly question: Question
  /** The answer is bound to these values: tool, arguments, account and API key. */
  readonly call: readonly unknown[]
  /** The confirmation is also bound to this value. */
  readonly scope: unknown
  /** Whether the effect of the action exists already; `undefined`: not known. */
  readonly isDone: boolean | undefined
}

export function createConfirmations(mode: ConfirmMode, store: TokenStore): Confirmations {
  const questionTokens = createSingleUseTokens('question to a person', ttlSeconds.question, store)
  // Call and scope are one bound value, because models repeat these tokens and one value keeps them
  // short. Questions bind the two separately: the call is checked first, the scope later.
  const byToken = {
    token: createSingleUseTokens('confirm_token', ttlSeconds.preview, store, ttlSeconds.view),
    view: createSingleUseTokens('decision in a view', ttlSeconds.view, store),
  }
  return {
    async verifyRequestState(requestState) {
      const token = await questionTokens.read(requestState)
      if (!token) throw new Error('not valid')
      if (hasExpired(token)) throw new Error('expired')
      return token
    },
    async of(confirmed) {
      const { tool, bound, token, asksIn, redact, earlier } = confirmed
      const call = [tool, bound]
      const { requestState: asked } = earlier
      if (asked && (!asked.isFor(0, call) || (await questionTokens.isUsed(asked))))
        throw invalidRequestState()
      const withoutAsking = (by: 'off' | 'not_needed'): Agreement => {
        if (isCheck(token)) throw nothingAsked()
        return { by, giveBack: async () => undefined }
      }
      return async (given) => {
        if (mode === 'never') return withoutAsking('off')
        // The server cannot tell a click in a view from a tool call of the model.
        if (asksIn !== 'form' && mode === 'person') throw needsPerson()
        // A client that is asked in a form gets no token that could be checked.
        if (asksIn === 'form' && isCheck(token)) throw nothingAsked()
        const what = typeof given === 'function' ? await given() : given
        // A check returns the current state, even if the object was hidden in the meantime.
        if (mode === 'auto' && what.kind === 'hides' && what.stopsNothing && !isCheck(token))
          return withoutAsking('not_needed')
        refuseUnreadable(what)
        const { scope } = what
        // What is to be deleted was read, so it exists.
        const isDone = what.kind === 'deletes' ? false : what.isDone
        const question = questionOf(what, redact)
        const unconfirmed = { ...confirmed, question, call, scope, isDone }
        // Asking a person comes first: a token proves only that somebody read a preview.
        return asksIn === 'form'
          ? agreementByAnswer(unconfirmed, questionTokens)
          : agreementByToken(unconfirmed, byToken)
      }
    },
  }
}

const hasExpired = ({ exp }: SingleUseToken) => exp * 1000 <= Date.now()

/**
 * Error for an answer that was used before, with the same code and reason as for an invalid
 * `requestState`.
 */
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

/** True for a request that only asks whether its token is still valid. It changes nothing. */
export const isCheck = (token: string | undefined): boolean =>
  token?.startsWith(checkPrefix) ?? false

/** Error for the check of a token whose action does not wait for an answer in a view. */
export const nothingAsked = () =>
  new Refused(
    'conflict',
    'this asked whether the action still waits for an answer in a view, and it does not. Nothing was done',
    { next: 'Look at it again, and ask the person what they want.' },
  )

/**
 * Checks the `confirm_token`. If it is missing or invalid, throws NotConfirmed with a preview that
 * has a new token, and another token for the view if the client shows views. Both belong to one
 * decision: using one also uses up the other. A token after `checkPrefix` is only checked.
 */
async function agreementByToken(
  { tool, keyHash, token: given, asksIn, question, call, scope, isDone }: UnconfirmedCall,
  byToken: Readonly<Record<'token' | 'view', SingleUseTokens>>,
): Promise<Agreement> {
  const isUse = !isCheck(given)
  const text = isUse ? given : given?.slice(checkPrefix.length)
  let refused: RefusedToken | undefined = text === undefined ? undefined : 'unknown'
  /** The checked token, if it is still valid. */
  let open: Pick<SingleUseToken, 'nonce' | 'exp'> | undefined
  for (const by of ['token', 'view'] as const) {
    const tokens = byToken[by]
    const token = text === undefined ? undefined : await tokens.read(text)
    if (!token) continue
    const isForThis = token.isFor(0, [call, scope])
    if (isForThis && isUse && (await tokens.use(token, keyHash)))
      return agreementWith(token, tokens, by)
    refused = await whyRefused(token, isForThis, tokens)
    if (by === 'view' && !refused) open = token
  }
  const why = refused === undefined ? '' : refusedInWords[refused]
  const nonce = open?.nonce ?? newNonce()
  const token = await byToken.token.mintFor(nonce, [call, scope])
  const decision = asksIn === 'view' && {
    tool,
    confirm_token: (open && text) ?? (await byToken.view.mintFor(nonce, [call, scope])),
    expires_at: new Date(
      open ? open.exp * 1000 : Date.now() + ttlSeconds.view * 1000,
    ).toISOString(),
    ...(refused && { refused }),
    ...(isDone !== undefined && { is_done: isDone }),
  }
  throw new NotConfirmed(preview(question, { tool, token, why, decision }))
}

/**
 * Returns why a token is refused; `undefined`: it is valid. Checks first whether the token was
 * used: the action itself changes its scope, and the token may have expired since.
 */
async function whyRefused(
  token: SingleUseToken,
  isForThis: boolean,
  tokens: SingleUseTokens,
): Promise<RefusedToken | undefined> {
  if (await tokens.isUsed(token)) return 'used'
  if (hasExpired(token)) return 'expired'
  return isForThis ? undefined : 'changed'
}

const refusedInWords: Readonly<Record<RefusedToken, string>> = {
  used: 'This token was used: its action may be done already. ',
  expired: 'This token has expired. ',
  changed: 'This token is for something else: the arguments, or their effect, have changed. ',
  unknown: 'This is not a token of this server; it may be incomplete. ',
}

const agreementWith = (
  used: SingleUseToken,
  tokens: SingleUseTokens,
  by: Agreement['by'],
): Agreement => ({
  by,
  giveBack: () => tokens.giveBack(used).catch(() => undefined),
})

/**
 * The confirmation from a person's answer. If there is no answer yet, throws NotConfirmed with the
 * question.
 */
async function agreementByAnswer(
  { keyHash, earlier, question, call, scope }: UnconfirmedCall,
  tokens: SingleUseTokens,
): Promise<Agreement> {
  const { requestState: asked, answers } = earlier
  const answer = inputResponse(answers, 'confirm')
  // The same arguments may now have another effect, which needs another question.
  if (answer.kind !== 'elicit' || !asked?.isFor(1, scope))
    throw new NotConfirmed(ask(question, await tokens.mint(call, scope)))
  if (!(await tokens.use(asked, keyHash))) throw invalidRequestState()
  if (answer.action === 'decline') throw new NotConfirmed(notAgreed(question, 'declined'))
  if (answer.action === 'cancel') throw new NotConfirmed(notAgreed(question, 'closed'))
  if (answer.action !== 'accept' || answer.content?.confirm !== true)
    throw new NotConfirmed(notAgreed(question, 'not accepted'))
  return agreementWith(asked, tokens, 'person')
}

/**
 * Irreversible actions on something given by name need confirmation. Where nobody confirms, the
 * action accepts only an id. Throws Refused.
 */
export function refuseUnconfirmedName(
  run: {
    readonly named: Readonly<Record<string, string>>
    readonly request: Pick<RouteRequest, 'params'>
  },
  { by }: Agreement,
  argument: 'phone_number_id' | 'sip_trunk_id',
): void {
  const name = run.named[argument]
  if (by === 'person' || by === 'token' || by === 'view' || name === undefined) return
  const message = `give the id, because nobody is asked before a delete here (--confirm never): ${name} has the id ${run.request.params[argument]}`
  throw badArgument(argument, message)
}
