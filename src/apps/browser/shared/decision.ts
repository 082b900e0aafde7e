import * as z from 'zod/mini'
import { plainText } from '../../../text/safe-text.ts'
import { checkPrefix, decisionMetaKey } from '../../decision-meta.ts'
import { badge, button, factList, h, icon, problemText } from './dom.ts'
import { isNothingDone } from './failure.ts'
import type { Formats } from './formats.ts'
import type { Host, ToolResult } from './host.ts'

/** An action that was not confirmed, in place of a tool's result (docs/calls.md#confirmation). */
const Confirmation = z.object({
  state: z.string(),
  question: z.string(),
  facts: z.record(z.string(), z.string()),
})

/** Token in a result's `_meta` with which the view can answer, and its expiry. */
const Answerable = z.object({
  tool: z.string(),
  confirm_token: z.string(),
  expires_at: z.string(),
  refused: z.optional(z.string()),
})

interface Decision extends z.output<typeof Confirmation> {
  /** Absent if the result has no token, so that the view cannot answer. */
  readonly answerable: z.output<typeof Answerable> | undefined
}

function decisionIn({ structuredContent, _meta }: ToolResult): Decision | undefined {
  const { data } = Confirmation.safeParse(structuredContent?.confirmation)
  return data && { ...data, answerable: Answerable.safeParse(_meta?.[decisionMetaKey]).data }
}

/** A decision with the reason why an earlier token was refused, unless it has a reason. */
const withRefusal = (decision: Decision | undefined, refused: string): Decision | undefined =>
  decision?.answerable ? { ...decision, answerable: { refused, ...decision.answerable } } : decision

/**
 * - `open`: the buttons are shown
 * - `busy`: the server's answer is pending
 * - `declined`: the person said no
 * - `expired`: the token expired
 * - `refused`: the person agreed, and the server did nothing
 * - `lost`: no answer to a request came; only the server knows if it was done
 */
type Step = 'open' | 'busy' | 'declined' | 'expired' | 'refused' | 'lost'

interface DecisionOptions {
  readonly host: Host
  /** Repeats the model's tool call with this token; `undefined` if another result arrived first. */
  readonly send: (tool: string, token: string) => Promise<ToolResult | undefined>
  readonly draw: () => void
}

/** Shows the decision that a result asks for, and sends the person's answer. */
export function createDecisions({ host, send, draw }: DecisionOptions) {
  let shown: { readonly decision: Decision; readonly step: Step } | undefined
  /** The facts shown before the last answer, if the server says that they changed since. */
  let before: Decision['facts'] | undefined
  /** The person may have agreed: here, in an earlier view of the conversation, or with a lost answer. */
  let isAgreed = false
  const show = (decision: Decision, step: Step) => {
    shown = { decision, step }
    draw()
  }
  const reportToModel = (text: string) =>
    host.updateModelContext(`The person decided in the view: ${text}`).catch(() => undefined)

  /**
   * Sends the token. With `checkPrefix` the server only reports whether the token is still valid.
   */
  async function answer(decision: Decision, prefix: '' | typeof checkPrefix) {
    const { tool, confirm_token } = decision.answerable ?? {}
    // A second click can come before the button is redrawn.
    if (tool === undefined || confirm_token === undefined || shown?.step === 'busy') return
    if (prefix === '') isAgreed = true
    show(decision, 'busy')
    const result = await send(tool, prefix + confirm_token)
    if (!result || prefix !== '' || decisionIn(result)) return
    const text = result.content.map((part) => part.text ?? '').join('\n')
    reportToModel(`agreed. ${tool} ${result.isError ? 'failed' : 'answered'}: ${text}`)
  }

  return {
    isShown: () => shown !== undefined,
    /** True if a result asks for a decision, which is then shown in place of data. */
    take(result: ToolResult): boolean {
      // The decision in a reply is open, even if the device's clock is ahead.
      const isAnswer = shown?.step === 'busy'
      const received = decisionIn(result)
      // A new token that is valid says nothing about the expired one that it replaces.
      const isRenewed = isAnswer && shown?.decision.answerable?.refused === 'expired'
      const decision = isRenewed ? withRefusal(received, 'expired') : received
      if (decision) {
        const refused = decision.answerable?.refused
        before = refused === 'changed' ? shown?.decision.facts : undefined
        isAgreed = isAnswer
          ? isAgreed && refused === 'expired'
          : refused === 'expired' || isOld(decision)
        show(decision, isAnswer || !isOver(decision) ? 'open' : 'expired')
        if (isAgreed && !isAnswer && !isOver(decision) && host.canCallTools())
          void answer(decision, checkPrefix)
      } else if (shown) {
        const agreedStep = isNothingDone(result) ? 'refused' : 'lost'
        shown = result.isError ? { ...shown, step: isAgreed ? agreedStep : 'expired' } : undefined
      }
      return decision !== undefined
    },
    /** The decision as a headline, its facts and two buttons or, without buttons, the reason. */
    drawing(formats: Formats, signal: AbortSignal) {
      if (!shown) return undefined
      const { decision, step } = shown
      if (step === 'open' && decision.answerable && !isOver(decision)) {
        const timer = setTimeout(() => show(decision, 'expired'), msLeft(decision.answerable))
        signal.addEventListener('abort', () => clearTimeout(timer))
      }
      return drawDecision(decision, {
        ...{ step, before, isAgreed, formats, canCallTools: host.canCallTools() },
        agree: () => answer(decision, ''),
        check: () => answer(decision, checkPrefix),
        reopen: () => show(decision, 'open'),
        decline() {
          show(decision, 'declined')
          reportToModel('declined. Nothing was done; do not try again unless they ask for it.')
        },
      })
    },
  }
}

/** Lifetime of a view's token on the server, ms. */
const lifetimeMs = 660_000
/** Maximum age of a new token, ms. An older one may have been used before the view was reopened. */
const freshMs = 15_000

const msLeft = ({ expires_at }: NonNullable<Decision['answerable']>) =>
  Date.parse(expires_at) - Date.now()

const isOver = ({ answerable }: Decision) => answerable !== undefined && msLeft(answerable) <= 0

const isOld = ({ answerable }: Decision) =>
  answerable !== undefined &&
  answerable.refused !== 'used' &&
  msLeft(answerable) < lifetimeMs - freshMs

interface DecisionPage {
  readonly step: Step
  /** The facts shown before they changed; those that differ now are marked. */
  readonly before: Decision['facts'] | undefined
  /** The person may have agreed before. */
  readonly isAgreed: boolean
  readonly canCallTools: boolean
  readonly formats: Formats
  readonly agree: () => void
  readonly decline: () => void
  /** Asks the server whether the decision is still open. */
  readonly check: () => void
  /** Returns from the step `declined` to `open`. */
  readonly reopen: () => void
}

function drawDecision(decision: Decision, page: DecisionPage) {
  const { status, tone, text, actions } = stateOf(decision, page)
  const { before } = page
  const shown = Object.entries(decision.facts).filter(([name]) => !apart.includes(name))
  const facts = shown.map(([name, value]) => [labelOf(plainText(name)), plainText(value)] as const)
  /** Marks a fact that has changed, with its earlier value. */
  const changeOf = (name: string, value: string) => {
    if (before === undefined || before[name] === value) return []
    const earlier = withoutIds(plainText(before[name] ?? 'none'))
    return [
      ' ',
      badge('Changed', 'warning'),
      h('div', { class: 'small muted', dir: 'auto' }, `Before: ${earlier}`),
    ]
  }
  return {
    title: withoutIds(plainText(decision.question)),
    about: [badge(status, tone)],
    content: [
      factList(
        shown.map(([name, value]) => [
          labelOf(plainText(name)),
          [h('span', { dir: 'auto' }, withoutIds(plainText(value))), ...changeOf(name, value)],
        ]),
      ),
      ...(status === waiting.status || status === readAgain ? warnings(decision) : []),
      h('p', { class: 'notice', ...(tone === 'warning' && { 'data-tone': tone }) }, text),
      ...(actions.length > 0 ? [h('div', { class: 'row' }, actions)] : []),
      ...idList(facts),
    ],
  }
}

const likelyFailure = 'Will probably fail'
const leftBlank = 'Left blank in the greeting'

/**
 * Facts with a notice of their own, and those that are written for models. Of the latter, people
 * read the note below the facts instead.
 */
const apart = [likelyFailure, leftBlank, 'Undo', 'Leave those out']

/** What speaks against agreeing, right above the buttons. */
function warnings({ facts }: Decision): HTMLElement[] {
  const problems = [...plainText(facts[likelyFailure] ?? '').matchAll(quotedText)].map(
    ([, words = '']) => words.replaceAll('\\"', '"').replaceAll(/ \([0-9a-f-]{36}\)/g, ''),
  )
  const blank = withoutIds(plainText(facts[leftBlank] ?? ''))
  const lines = [
    ...problems.map((problem, at) => problemText(`${likelyFailure}: ${problem}`, `problem-${at}`)),
    ...(blank ? [h('p', { dir: 'auto' }, `${leftBlank}: ${blank}`)] : []),
  ]
  return lines.length > 0 ? [h('div', { class: 'notice', 'data-tone': 'warning' }, lines)] : []
}

/**
 * A quoted text, with the id behind it: `"Front desk" (00000000-…)`. Matches each quoted text as a
 * whole, so that no part of it is taken for an id.
 */
const quotedText = /"((?:[^"\\]|\\.)*)"(?:\s\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\))?/g

/**
 * Removes the ids from a text and the quotes from telephone numbers. Names stay quoted, to tell
 * them from the server's own words, such as `nobody`. The quotes become typographic, unless a name
 * contains such a quote and could end its own quotation.
 */
function withoutIds(text: string): string {
  const [open, close] = /[\\“”]/.test(text) ? ['"', '"'] : ['“', '”']
  return text.replaceAll(quotedText, (_, name: string) =>
    /^\+\d+$/.test(name) ? name : open + name + close,
  )
}

/** Folded list of the facts' ids, which tell apart agents or numbers of the same name. */
function idList(facts: readonly (readonly [name: string, value: string])[]): HTMLElement[] {
  const ids = facts.flatMap(([name, value]) => {
    const found = [...value.matchAll(quotedText)].flatMap(([, , id]) =>
      id === undefined ? [] : h('div', {}, h('code', {}, id)),
    )
    return found.length > 0 ? [[name, found] as const] : []
  })
  if (ids.length === 0) return []
  return [h('details', { class: 'muted' }, h('summary', { id: 'ids' }, 'Ids'), factList(ids))]
}

/** A fact's name as a label: `external_id` is `External id`, `test_variables.day` `Variable day`. */
const labelOf = (name: string) => {
  const words = name.replace(/^test_variables\./, 'variable ').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

interface DecisionState {
  readonly status: string
  readonly tone: 'info' | 'warning' | 'neutral'
  readonly text: string
  readonly actions: readonly HTMLElement[]
}

function stateOf(decision: Decision, page: DecisionPage): DecisionState {
  const { answerable, state } = decision
  const { step, canCallTools } = page
  if (state !== 'needed') return notDone(state === 'declined' ? 'Declined' : 'Not answered')
  if (!answerable || !canCallTools)
    return { ...waiting, text: 'Nothing was done yet. Answer in the conversation.', actions: [] }
  if (step === 'declined')
    return {
      ...notDone('Declined'),
      actions: [button('Decide again', page.reopen, { id: 'reopen', class: 'quiet' })],
    }
  if (answerable.refused === 'used')
    return {
      ...{ status: 'Already answered', tone: 'neutral', actions: [] },
      text: 'You have already agreed to this; it has probably been done. Ask in the conversation for the result, or to do it once more.',
    }
  if (step === 'refused') return notDone('Refused')
  if (step === 'lost')
    return {
      ...{ status: 'Not known', tone: 'warning', text: 'Not known whether it was done.' },
      actions: [button('Check again', page.check, { id: 'check' })],
    }
  if (step === 'expired')
    return {
      ...{ status: 'Expired', tone: 'neutral' },
      text: page.isAgreed
        ? whyAgain.expired
        : 'The time to answer is over. Nothing was agreed to here.',
      actions: [button('Ask me again', page.check, { id: 'check' })],
    }
  return openState(decision, answerable, page)
}

const waiting = { status: 'Waiting for you', tone: 'info' } as const

/** Status of a decision whose facts changed since the person was asked. */
const readAgain = 'Changed: read again'

const notDone = (status: string): DecisionState => ({
  ...{ status, tone: 'neutral', actions: [] },
  text: 'Nothing was done.',
})

const whyAgain: Readonly<Record<string, string>> & { readonly expired: string } = {
  changed: 'What this affects has changed since you were asked. Read it once more.',
  expired: 'The time to answer was over. If you agreed before that, it has probably been done.',
}

function openState(
  { facts }: Decision,
  { tool, expires_at, refused = '' }: NonNullable<Decision['answerable']>,
  { step, isAgreed, formats, agree, decline }: DecisionPage,
): DecisionState {
  const { yes, no, isDangerous, note } = decisionWords(tool, facts)
  const disabled = step === 'busy'
  const style = isDangerous ? 'danger' : 'primary'
  const why = refused === 'expired' && !isAgreed ? undefined : whyAgain[refused]
  const nothing = why === whyAgain.expired ? undefined : 'Nothing was done yet.'
  const until = `Open until ${formats.time(expires_at)}.`
  return {
    status: refused === 'changed' ? readAgain : waiting.status,
    tone: why ? 'warning' : waiting.tone,
    text: [why, nothing, note, until].filter(Boolean).join(' '),
    actions: [
      button(disabled ? `${yes} …` : [icon(isDangerous ? 'warning' : 'check'), yes], agree, {
        ...{ id: 'agree', class: style, disabled },
      }),
      button(no, decline, { id: 'decline', disabled }),
    ],
  }
}

/** Labels of the two buttons, and the consequence to know before the answer. */
interface Words {
  readonly yes: string
  readonly no: string
  readonly isDangerous?: boolean
  readonly note?: string
}

const otherWords: Words = { yes: 'Go ahead', no: 'Do not' }

const costs = 'Calls cost money and cannot be hung up from here.'

const browserCall: Words = {
  yes: 'Open the call',
  no: 'Do not open it',
  note: 'A browser call rings no telephone, but may cost money.',
}

const deletes = 'A deletion cannot be undone.'

const words: Readonly<Record<string, Words>> = {
  place_call: { yes: 'Place the call', no: 'Do not call', note: costs },
  place_calls: { yes: 'Place the calls', no: 'Do not call', note: costs },
  archive_agent: {
    ...{ yes: 'Archive', no: 'Keep' },
    note: 'An archived agent can be restored, if the platform takes it.',
  },
  delete_phone_number: {
    ...{ yes: 'Delete', no: 'Keep', isDangerous: true },
    note: `${deletes} A purchased number is released, and may be lost for good.`,
  },
  delete_sip_trunk: { yes: 'Delete', no: 'Keep', isDangerous: true, note: deletes },
  update_subaccount: {
    ...{ yes: 'Save', no: 'Keep as it is' },
    note: 'A disabled subaccount can be enabled again.',
  },
  update_agent: { yes: 'Save', no: 'Keep as it is' },
}

/** Labels and note of a decision, by its tool and facts. */
function decisionWords(tool: string, facts: Readonly<Record<string, string>>): Words {
  const isBrowserCall = tool === 'place_call' && !('To' in facts)
  const { note, ...labels } = isBrowserCall ? browserCall : (words[tool] ?? otherWords)
  // A call in the sandbox costs nothing. It has a fact that says so.
  return 'Sandbox' in facts || note === undefined ? labels : { ...labels, note }
}
