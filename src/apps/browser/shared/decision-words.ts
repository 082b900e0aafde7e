import { capitalised } from '../../../text/labels.ts'
import type { Facts } from './decision-facts.ts'
import type { Host } from './host.ts'

/** Words for the decisions of one tool. */
export interface ToolWords {
  readonly answers: readonly [yes: string, no: string]
  /** The yes of a call that the built-in sandbox simulates. */
  readonly simulated?: string
  readonly effect: readonly [subject: string, participle: string]
  readonly kind?: 'costs' | 'deletes' | 'stops'
  /** Consequence to know before the answer. */
  readonly consequence?: string
  /** Facts of the moment of the question, which its outcome may change. */
  readonly momentary?: readonly string[]
  /** What to do once it is done. */
  readonly after?: (host: Host) => Node
}

/** Words of a decision for people. */
export interface DecisionWords extends Pick<ToolWords, 'momentary' | 'after'> {
  readonly yes: string
  readonly no: string
  /** Whether `yes` deletes something. */
  readonly isDangerous: boolean
  /** Consequence to know before the answer. */
  readonly consequence: string | undefined
  /** Whether the yes costs money, cannot be undone, or stops something in use. */
  readonly isSerious: boolean
  /** Outcome that is not known: `The call may have been placed.` */
  readonly maybe: string
  /** The action while it is done: `Archiving …` */
  readonly working: string
  /** What is decided about, as a noun: `Agent "Front desk"`. */
  readonly noun: string
  /** Outcome that is known: `Archived`. */
  readonly done: string
  /** Outcome of a no: `Not archived`. */
  readonly notDone: string
}

const otherTool: ToolWords = { answers: ['Go ahead', 'Do not'], effect: ['It', 'done'] }

/** Words of a decision, by those of its tool, its facts and its question. */
export function decisionWords(
  tool: ToolWords = otherTool,
  facts: Facts,
  question = '',
): DecisionWords {
  const { answers, simulated, effect, kind, consequence } = tool
  const [subject, participle] = effect
  // A call in the sandbox costs nothing.
  const isSimulated = 'Sandbox' in facts
  const yes = (isSimulated && simulated) || answers[0]
  return {
    ...tool,
    ...{ yes, no: answers[1], isDangerous: kind === 'deletes' },
    isSerious: kind !== undefined && !isSimulated,
    consequence: isSimulated ? undefined : consequence,
    maybe: `${subject} may have been ${participle}.`,
    // `Place the call` is `Placing the call`.
    working: `${yes.replace(/(?<=\w)e?\b/, 'ing')} …`,
    noun: nounOf(question) ?? subject,
    ...{ done: capitalised(participle), notDone: `Not ${participle}` },
  }
}

/** Object of a question: `Agent "Front desk"` of `Archive the agent "Front desk"?`. */
function nounOf(question: string): string | undefined {
  const [, verb, object] = /^(\w+) (?:the |a )?(.+)\?$/s.exec(question) ?? []
  return verb === 'Call' ? `Call to ${object}` : object && capitalised(object)
}
