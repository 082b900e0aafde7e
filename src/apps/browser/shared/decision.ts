import * as z from 'zod/mini'
import { checkPrefix } from '../../views.ts'
import { decisionDrawing } from './decision-drawing.ts'
import type { Facts } from './decision-facts.ts'
import {
  type Decision,
  decisionIn,
  isOld,
  isOver,
  lifetimeMs,
  msLeft,
  type ShownDecision,
  stepAfter,
  stepAfterError,
} from './decision-state.ts'
import { decisionWords, type ToolWords } from './decision-words.ts'
import { failureOf } from './failure.ts'
import type { Host, ToolResult } from './host.ts'

/** Words of a tool's decision; `undefined` for general ones. */
export type WordsOf = (tool: string, facts: Facts) => ToolWords | undefined

export interface DecisionOptions {
  readonly host: Host
  /** Repeats the model's tool call with this token; `undefined` if another result arrived first. */
  readonly send: (tool: string, token: string, status: string) => Promise<ToolResult | undefined>
  /** Calls a tool that reads, for the agent and account of the model's tool call. */
  readonly read: (
    tool: string,
    args: Readonly<Record<string, unknown>>,
  ) => Promise<ToolResult | undefined>
  readonly draw: () => void
}

export type Decisions = ReturnType<typeof createDecisions>

/** Shows the decision that a result asks for, and sends the person's answer. */
export function createDecisions(wordsOf: WordsOf, { host, send, read, draw }: DecisionOptions) {
  let shown: ShownDecision | undefined
  /** A check found that the agent has placed no call since the person was asked. */
  let isWithoutCalls = false
  const show = (next: ShownDecision) => {
    shown = next
    draw()
  }
  const wordsFor = ({ answerable, facts, question }: Decision) =>
    decisionWords(wordsOf(answerable?.tool ?? '', facts), facts, question)
  const reportToModel = (text: string) =>
    host.updateModelContext(`The person decided in the view: ${text}`).catch(() => undefined)

  /** Sends the token. With `check` the server only reads. */
  async function request(current: ShownDecision, pending: 'agree' | 'check') {
    const { tool, confirm_token, expires_at } = current.decision.answerable ?? {}
    // A second click can come before the button is redrawn.
    if (tool === undefined || confirm_token === undefined || shown?.pending) return
    show({ ...current, pending })
    isWithoutCalls =
      pending === 'check' &&
      (current.step === 'expired' || current.step === 'lost') &&
      tool.startsWith('place_call') &&
      Date.now() > Date.parse(expires_at ?? '') + settleMs &&
      (await countCalls(Date.parse(expires_at ?? '') - lifetimeMs)) === 0
    const result = await send(
      tool,
      ...(pending === 'check'
        ? ([checkPrefix + confirm_token, 'Checking what happened …'] as const)
        : ([confirm_token, wordsFor(current.decision).working] as const)),
    )
    if (!result || pending === 'check' || decisionIn(result)) return
    const text = result.content.map((part) => part.text ?? '').join('\n')
    reportToModel(`agreed. ${tool} ${result.isError ? 'failed' : 'answered'}: ${text}`)
  }

  /** Number of the agent's calls since a time; `undefined` if they cannot be read. */
  async function countCalls(sinceMs: number): Promise<number | undefined> {
    const created_after = new Date(sinceMs - clockDoubtMs).toISOString()
    const result = await read('list_calls', { created_after, limit: 1 })
    return Total.safeParse(result?.structuredContent).data?.total
  }

  /** Shows the server's answer to a request, or to the model's tool call. */
  function received(decision: Decision) {
    const earlier = shown
    const { answerable } = decision
    const before = answerable?.refused === 'changed' ? earlier?.decision.facts : undefined
    if (earlier?.pending) {
      const step = stepAfter(earlier, decision, isWithoutCalls)
      // That a new token is valid says nothing about the expired one that it replaces.
      const isRenewed = earlier.decision.answerable?.refused === 'expired'
      const isAgreed = earlier.isAgreed && isRenewed && answerable?.is_done === undefined
      const isFoundOpen = step === 'open' && earlier.step !== 'open'
      return show({ decision, step, before, isFoundOpen, isAgreed })
    }
    const refused = answerable?.refused
    const isAgreed = refused === 'used' || refused === 'expired' || isOld(decision)
    const step = refused === 'used' ? 'used' : isOver(decision) ? 'expired' : 'open'
    show({ decision, step, before, isAgreed })
    if (isAgreed && step === 'open' && host.canCallTools() && shown) void request(shown, 'check')
  }

  return {
    isShown: () => shown !== undefined,
    /**
     * True if a result asks for a decision, or is an error after the person's answer: it is then
     * shown in place of data.
     */
    take(result: ToolResult): boolean {
      const decision = decisionIn(result)
      if (decision) {
        received(decision)
        return true
      }
      if (!shown?.pending || !result.isError) {
        if (!result.isError) shown = undefined
        return false
      }
      const { pending, ...current } = shown
      const isAgreed = current.isAgreed || pending === 'agree'
      const step = stepAfterError(shown, result)
      const isCheckFailed = pending === 'check'
      show({ ...current, step, isAgreed, isCheckFailed, failure: failureOf(result) })
      return true
    },
    /** The decision as a headline, its facts and two buttons or, without buttons, the reason. */
    drawing(signal: AbortSignal) {
      if (!shown) return undefined
      const current = shown
      const { decision, step, pending } = current
      if (step === 'open' && !pending && decision.answerable && !isOver(decision)) {
        const end = () => show({ ...current, step: 'expired' })
        const timer = setTimeout(end, msLeft(decision.answerable))
        signal.addEventListener('abort', () => clearTimeout(timer))
      }
      return decisionDrawing(current, {
        ...{ signal, host, words: wordsFor(decision) },
        agree: () => request(current, 'agree'),
        check: () => request(current, 'check'),
        reopen() {
          const isLate = step === 'declined' && isOver(decision)
          show({ ...current, step: isLate ? 'expired' : 'open' })
        },
        decline() {
          show({ ...current, step: 'declined' })
          reportToModel('declined. Nothing was done; do not try again unless they ask for it.')
        },
      })
    },
  }
}

const Total = z.object({ total: z.number() })

/**
 * Time after which the platform lists a call that was agreed to at the last moment, ms: a request and
 * the default of `--call-settle`. Before, a list without the call proves nothing.
 */
const settleMs = 180_000
/** Maximum difference between the clocks of the server and of the platform, ms. */
const clockDoubtMs = 60_000
