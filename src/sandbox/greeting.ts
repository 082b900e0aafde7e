import { render, TemplateError } from '../jinja/index.ts'
import { isPlainObject } from './agent-config.ts'
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

/** Most names in a variable's path; further ones are ignored. */
const deepestPath = 20

/** The platform's variables and test_variables, which win; the name `a.b` sets `b` of `a`. */
function variablesOf(facts: GreetingFacts): Record<string, unknown> {
  const variables: Record<string, unknown> = {
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
  for (const [path, value] of Object.entries(facts.testVariables)) {
    put(variables, path.split('.', deepestPath), value)
  }
  return variables
}

function put(into: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (name === '__proto__') return
  const before = into[name]
  if (rest.length === 0) {
    // An object given for `contact` is merged into the simulated one.
    into[name] = isPlainObject(value) && isPlainObject(before) ? { ...before, ...value } : value
    return
  }
  const inner = isPlainObject(before) ? { ...before } : {}
  put(inner, rest, value)
  into[name] = inner
}
