import type { Facts } from '../shared/decision-facts.ts'
import type { ToolWords } from '../shared/decision-words.ts'

/** Words for the decision to place one call or a list of calls. */
export const placingWords = (tool: string, facts: Facts): ToolWords =>
  tool === 'place_calls' ? manyCalls : 'To' in facts ? phoneCall : browserCall

const consequence = 'Calls cost money and cannot be hung up from here.'

const phoneCall: ToolWords = {
  answers: ['Place the call', 'Do not call'],
  simulated: 'Place a simulated call',
  effect: ['The call', 'placed'],
  ...{ kind: 'costs', consequence },
}

const manyCalls: ToolWords = {
  answers: ['Place the calls', 'Do not call'],
  simulated: 'Place simulated calls',
  effect: ['The calls', 'placed'],
  ...{ kind: 'costs', consequence },
}

const browserCall: ToolWords = {
  answers: ['Open the call', 'Do not open it'],
  simulated: 'Open a simulated call',
  effect: ['The call', 'opened'],
  consequence: 'No telephone rings, but the call may cost money.',
}
