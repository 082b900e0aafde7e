import { counted, uncapitalised } from '../../../text/labels.ts'
import type { IconName, Tone } from '../../design.ts'
import { askButtons, button } from './controls.ts'
import {
  type Facts,
  factNodes,
  factText,
  idList,
  warningsOf,
  withoutIds,
} from './decision-facts.ts'
import type { Decision, ShownDecision } from './decision-state.ts'
import type { DecisionWords } from './decision-words.ts'
import { actionRow, badge, h, icon } from './dom.ts'
import { failureDetails } from './failure.ts'
import type { Host } from './host.ts'
import { withPhoneNumbers } from './typography.ts'

interface DecisionPage {
  readonly host: Host
  readonly words: DecisionWords
  /** Fires when the rendering is replaced. */
  readonly signal: AbortSignal
  readonly agree: () => void
  readonly decline: () => void
  /** Asks the server what was done, and whether the decision is still open. */
  readonly check: () => void
  /** Returns to the two buttons. */
  readonly reopen: () => void
}

/** State of a decision: its badge, and the notice under the title. */
interface State {
  readonly status: string
  readonly tone?: Tone
  readonly shape?: IconName
  /** The news in one sentence. */
  readonly lead?: string
  readonly text?: string | undefined
  readonly actions?: readonly HTMLElement[]
  readonly isOpen?: boolean
}

/** A decision: its question, state, warnings, facts and two buttons. */
export function decisionDrawing(shown: ShownDecision, page: DecisionPage) {
  const { decision, failure, step } = shown
  const { facts } = decision
  const { words, host } = page
  const state = stateOf(shown, page)
  const { status, tone = 'neutral', shape, lead, text, actions = [], isOpen = false } = state
  const isAsked = isOpen || shape === waiting.shape
  const title = withoutIds(isAsked ? decision.question : words.noun)
  const warnings = isAsked ? warningsOf(facts) : []
  return {
    title: withPhoneNumbers(title),
    about: [badge(status, tone, shape), sandboxNote(facts)],
    content: [
      lead !== undefined &&
        h(
          'div',
          { class: 'notice stack', 'data-tone': tone === 'warning' && tone },
          h('p', {}, h('strong', {}, lead), withPhoneNumbers(text ? ` ${text}` : '')),
          actionRow(actions),
          failure && failureDetails(failure),
        ),
      warnings.length > 0 &&
        h(
          'div',
          { class: 'notice', 'data-tone': 'warning', id: 'warnings' },
          icon('warning'),
          h('div', { class: 'stack' }, warnings),
        ),
      step === 'done' && words.after?.(host),
      factNodes(facts, shown.before, isAsked ? [] : words.momentary),
      isAsked && consequenceNode(words),
      isOpen && answers(shown, page, warnings.length > 0 || tone === 'warning' || words.isSerious),
      idList(facts),
    ],
    news:
      isAsked && lead === undefined
        ? undefined
        : [!isAsked && title, status, lead, text].filter(Boolean).join('. '),
  }
}

const nothing = 'Nothing was done.'
const changed = 'Something has changed since you were asked.'

function stateOf(shown: ShownDecision, { words, host, check, reopen }: DecisionPage): State {
  const { decision, step, pending, failure, isAgreed, isCheckFailed = false } = shown
  const { maybe, done, notDone } = words
  const declined = { status: notDone, lead: 'You said no.', text: nothing }
  if (decision.state === 'declined') return declined
  if (decision.state !== 'needed') return { status: 'Not answered', lead: nothing }
  if (!decision.answerable || !host.canCallTools())
    return { ...waiting, lead: 'Answer in the conversation.', text: 'Nothing is done until then.' }
  const checkButton = button(pending ? 'Checking …' : 'Check what happened', check, {
    ...{ id: 'check', class: 'primary', 'aria-disabled': pending && 'true' },
  })
  const notKnown = { status: 'Outcome not known', tone: 'warning', lead: maybe } as const
  const failed = isCheckFailed ? 'This could not be checked just now.' : undefined
  switch (step) {
    case 'open':
      return { ...openState(shown, maybe), isOpen: true }
    case 'declined':
      return {
        ...declined,
        actions: [button('Decide again', reopen, { id: 'reopen' })],
      }
    case 'expired':
      return {
        status: 'Time is up',
        ...(isAgreed && { tone: 'warning' }),
        lead: isAgreed
          ? `If you agreed in time, ${uncapitalised(maybe)}`
          : 'Nothing was done from here.',
        text: failed || (isAgreed ? undefined : 'It may have been decided elsewhere.'),
        actions: [checkButton],
      }
    case 'used':
      return {
        ...{ status: 'Agreed before', tone: 'warning', text: failed },
        lead: `Somebody agreed before. ${maybe}`,
        actions: [checkButton],
      }
    case 'lost':
      return {
        ...notKnown,
        text: failed || 'The answer did not arrive. Check what happened before you try again.',
        actions: [checkButton],
      }
    case 'refused':
      return {
        ...{ status: failure?.title ?? 'Not done', lead: nothing },
        text: failure && [failure.text, ...failure.fields].join(' '),
        actions: failure?.isRetryable
          ? [button('Ask me again', check, { id: 'check' })]
          : askButtons(host, [['Ask what else can be done', 'ask', askWhy(decision)]]),
      }
    case 'not_done':
      return {
        ...{ status: notDone, lead: nothing },
        actions: [button('Ask me again', reopen, { id: 'reopen' })],
      }
    case 'done':
      return { status: done, tone: 'success' }
    case 'unknown':
      return {
        ...notKnown,
        text: 'This server cannot tell. Ask in the conversation before you try again.',
        actions: askButtons(host, [
          ['Ask in the conversation', 'ask', findOut(decision), 'primary'],
        ]),
      }
  }
}

const waiting = { status: 'Waiting for you', shape: 'clock' } as const

/** State with the two buttons. */
function openState(
  { pending, before, isAgreed, isFoundOpen }: ShownDecision,
  maybe: string,
): State {
  if (pending) return { status: pending === 'agree' ? 'In progress' : 'Checking', tone: 'info' }
  if (before)
    return {
      ...{ status: 'Changed: read again', tone: 'warning', lead: changed },
      text: nothing,
    }
  if (isAgreed)
    return {
      ...{ status: 'Asked before', tone: 'warning', lead: maybe },
      text: 'You were asked this before, and may have agreed.',
    }
  if (isFoundOpen) return { ...waiting, lead: nothing, text: 'You can still decide.' }
  return waiting
}

/** Asks the model to find out. The message contains no untrusted text. */
const findOut = ({ answerable }: Decision) =>
  `Please check what happened with ${answerable?.tool}, which I was asked to confirm. Only look; do not repeat it.`

/** Asks the model for another way after a refusal. */
const askWhy = ({ answerable }: Decision) =>
  `${answerable?.tool} was refused. Please say why, and what else I can do. Do not repeat it.`

/** What to know before the answer, wherever it is given. */
const consequenceNode = ({ consequence, isSerious }: DecisionWords): HTMLElement | false =>
  consequence !== undefined &&
  h(
    'p',
    { class: isSerious ? 'consequence' : 'muted' },
    isSerious && icon('warning'),
    h('span', {}, consequence),
  )

/** The two buttons and the time left. */
function answers(
  { decision, pending }: ShownDecision,
  { words, agree, decline, signal }: DecisionPage,
  isDoubtful: boolean,
): HTMLElement {
  const { yes, no, working, isDangerous } = words
  const isBusy = pending !== undefined
  const style = isDangerous ? 'danger' : !isDoubtful && 'primary'
  const shape = isDangerous ? 'warning' : 'check'
  const deadline = h('span', { class: 'small muted', id: 'deadline' })
  const count = () => {
    deadline.textContent = isBusy ? '' : timeLeft(decision)
  }
  count()
  const timer = setInterval(count, 10_000)
  signal.addEventListener('abort', () => clearInterval(timer))
  return h(
    'div',
    { class: 'answers row' },
    button(pending === 'agree' ? working : [icon(shape), yes], agree, {
      ...{ id: 'agree', class: style, 'aria-disabled': isBusy && 'true' },
    }),
    button(no, () => isBusy || decline(), { id: 'decline', 'aria-disabled': isBusy && 'true' }),
    deadline,
  )
}

/** Time until a decision expires; empty if the device's clock cannot tell. */
function timeLeft({ answerable }: Decision): string {
  const minutes = Math.ceil((Date.parse(answerable?.expires_at ?? '') - Date.now()) / 60_000)
  return minutes > 0 ? `${counted(minutes, 'minute')} left` : ''
}

/** Note under the title: on the sandbox, nothing real happens. */
const sandboxNote = ({ Sandbox: note }: Facts): readonly HTMLElement[] | false =>
  note !== undefined && [badge('Sandbox'), h('span', {}, factText(note.replace(', ', ': ')))]
