import { withTestVariables } from '../contract/test-variables.ts'
import { render, TemplateError } from '../jinja/index.ts'
import type { CallSettings } from './call-settings.ts'
import { templateLimits } from './template-limits.ts'

/** What a greeting can read besides test_variables. */
export interface GreetingFacts {
  agentId: string
  agentNumber: string | null
  contactNumber: string | null
  direction: string
  medium: string
  now: number
  testVariables: Readonly<Record<string, unknown>>
}

/** The agent's rendered greeting; empty when the caller speaks first. */
export interface Greeting {
  text: string
  /** Why it could not be rendered. */
  error: string | null
}

export function renderGreeting(
  { message, mode }: CallSettings['initial_message'],
  facts: GreetingFacts,
): Greeting {
  if (mode === 'user_first') return { text: '', error: null }
  try {
    const text = render(message, variablesOf(facts), { analysis: templateLimits })
    return { text, error: null }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const where = error.line === null ? '' : ` (line ${error.line})`
    return { text: '', error: `${error.message}${where}` }
  }
}

/** The platform's variables and test_variables, which win. */
function variablesOf(facts: GreetingFacts): Readonly<Record<string, unknown>> {
  const variables = {
    contact: {
      first_name: 'Sam',
      last_name: 'Sandbox',
      full_name: 'Sam Sandbox',
      email: 'sam@sandbox.example',
      phone_number: facts.contactNumber,
    },
    current_datetime: new Date(facts.now).toISOString(),
    timezone: 'UTC',
    direction: facts.direction,
    medium: facts.medium,
    agent_uuid: facts.agentId,
    agent_number: facts.agentNumber,
    contact_number: facts.contactNumber,
  }
  return withTestVariables(variables, facts.testVariables)
}
