import { capitalised } from '../../../text/labels.ts'
import type { Facts } from './decision-facts.ts'

/** Words for the decisions of one tool. */
export interface ToolWords {
  readonly answers: readonly [yes: string, no: string]
  /** The yes of a call that the built-in sandbox simulates. */
  readonly simulated?: string
  readonly effect: readonly [subject: string, participle: string]
  readonly kind?: 'costs' | 'deletes' | 'stops'
  /** Consequence to know before the answer, besides that of `kind`. */
  readonly consequence?: string
}

/** Words of a decision for people. */
export interface DecisionWords {
  readonly yes: string
  readonly no: string
  /** Whether `yes` deletes something. */
  readonly isDangerous: boolean
  /** Consequence to know before the answer. */
  readonly consequence: string | undefined
  /** Whether the consequence costs money, cannot be undone, or stops something in use. */
  readonly isSerious: boolean
  /** Outcome that is not known: `The call may have been placed.` */
  readonly maybe: string
  /** The action while it is done: `Archiving …` */
  readonly working: string
  /** What is decided about, as a noun: `Agent "Front desk"`. */
  readonly noun: string
  /** Outcome that is known: `Archived`. */
  readonly done: string
}

const otherTool: ToolWords = { answers: ['Go ahead', 'Do not'], effect: ['It', 'done'] }

/** Words of a decision, by those of its tool, its facts and its question. */
export function decisionWords(
  { answers, simulated, effect, kind, consequence }: ToolWords = otherTool,
  facts: Facts,
  question = '',
): DecisionWords {
  const [subject, participle] = effect
  // A call in the sandbox costs nothing.
  const isSimulated = 'Sandbox' in facts
  const yes = (isSimulated && simulated) || answers[0]
  return {
    ...{ yes, no: answers[1], isDangerous: kind === 'deletes', isSerious: kind !== undefined },
    consequence: isSimulated ? undefined : kind === 'deletes' ? deletion(facts) : consequence,
    maybe: `${subject} may have been ${participle}.`,
    // `Place the call` is `Placing the call`.
    working: `${yes.replace(/(?<=\w)e?\b/, 'ing')} …`,
    noun: nounOf(question) ?? subject,
    done: capitalised(participle),
  }
}

/** Object of a question: `Agent "Front desk"` of `Archive the agent "Front desk"?`. */
function nounOf(question: string): string | undefined {
  const [, verb, object] = /^(\w+) (?:the |a )?(.+)\?$/s.exec(question) ?? []
  return verb === 'Call' ? `Call to ${object}` : object && capitalised(object)
}

/** What a deletion means, for a number by whether it was purchased. */
function deletion({ Purchased: purchased }: Facts): string {
  const undo = 'This cannot be undone.'
  if (purchased === undefined || purchased.startsWith('probably not')) return undo
  return purchased.startsWith('probably')
    ? `${undo} The number is released, and may be lost for good.`
    : `${undo} If the number was purchased, it is released, and may be lost for good.`
}
