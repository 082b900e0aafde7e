import type { Agent } from '../../contract/agent.ts'
import { knownVariables, withTestVariables } from '../../contract/template.ts'
import { firstCharacters } from '../../text/safe-text.ts'

type Variables = Readonly<Record<string, unknown>>

/** Facts that are known before the call. Only the platform knows absent facts. */
export interface GreetingFacts {
  readonly agentId?: string | undefined
  readonly fromNumber?: string | undefined
  readonly toNumber?: string | undefined
  /** The type of the call to place. It implies the direction. */
  readonly type?: 'phone' | 'web' | undefined
  /** The medium that the request gives; by default the call's type. */
  readonly medium?: string | undefined
  readonly testVariables?: Variables | undefined
}

/** The speech of a greeting, as far as it is known before the call. */
export type SpokenGreeting =
  /** Nothing is spoken; `why` is a sentence. */
  | { readonly kind: 'none'; readonly why: string }
  /**
   * The template fails to render. The platform checks templates when an agent is saved; what it
   * does if rendering fails later is undocumented. The sandbox places the call without a greeting.
   */
  | { readonly kind: 'fails'; readonly error: string; readonly empty: readonly string[] }
  /** The greeting is too large to render here. */
  | { readonly kind: 'unknown'; readonly why: string }
  | {
      readonly kind: 'spoken'
      /**
       * The whole text. Placeholders such as `[contact.first_name]` stand for values that only the
       * platform knows.
       */
      readonly text: string
      /** Variables without a value, which are spoken as nothing. At most 100. */
      readonly empty: readonly string[]
      /** Variables in the text that the platform fills. */
      readonly fromPlatform: readonly string[]
      /** True in the mode `dynamic_message`: the model rewords the text. */
      readonly isReworded: boolean
    }

/**
 * Limits of rendering, because templates are untrusted: about 20 ms each for parsing and rendering,
 * and a longer text than anybody listens to.
 */
export const renderLimits = {
  maxSteps: 200_000,
  maxLength: 50_000,
  analysis: { maxSteps: 200_000, maxLength: 200_000 },
} as const

/** Renders a greeting with the variables of a call, as the platform does. */
export async function spokenGreeting(
  greeting: Agent['initial_message'],
  facts: GreetingFacts,
): Promise<SpokenGreeting> {
  const mode = greeting?.mode ?? 'fixed_message'
  const template = greeting?.message
  if (mode === 'user_first') return { kind: 'none', why: 'the person called speaks first' }
  if (typeof template !== 'string' || template === '') {
    return { kind: 'none', why: 'the agent has no greeting' }
  }
  const spoken = await spokenText(template, facts)
  return spoken.kind === 'spoken' ? { ...spoken, isReworded: mode === 'dynamic_message' } : spoken
}

export type SpokenText = Exclude<SpokenGreeting, { kind: 'none' }>

/** Renders a template that is spoken word for word. */
export async function spokenText(template: string, facts: GreetingFacts): Promise<SpokenText> {
  // Lazy: few tool calls render a template.
  const { render, TemplateError } = await import('../../jinja/index.ts')
  const empty: string[] = []
  const onGap = (path: string) => empty.push(path)
  try {
    const text = render(template, variablesOf(facts), { ...renderLimits, onGap })
    const fromPlatform = knownVariables.filter((path) => text.includes(placeholder(path)))
    return { kind: 'spoken', text, empty, fromPlatform, isReworded: false }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const { type, line } = error
    const found = `${error.message}${line === null ? '' : ` (line ${line})`}`
    const isOurLimit = ['limit_exceeded', 'too_large', 'too_deep'].includes(type)
    return isOurLimit ? { kind: 'unknown', why: found } : { kind: 'fails', error: found, empty }
  }
}

const placeholder = (path: string) => `[${path}]`

/** The variables of a call. A placeholder stands for a value that only the platform knows. */
export function variablesOf(facts: GreetingFacts): Variables {
  const { agentId, fromNumber, toNumber, type, testVariables = {} } = facts
  const contact = (field: string) => placeholder(`contact.${field}`)
  const known = {
    contact: {
      first_name: contact('first_name'),
      last_name: contact('last_name'),
      full_name: contact('full_name'),
      email: contact('email'),
      phone_number: toNumber ?? contact('phone_number'),
    },
    // A full date, so that templates can format it. The call itself is slightly later.
    current_datetime: new Date().toISOString(),
    timezone: placeholder('timezone'),
    direction: type ? directionOf[type] : placeholder('direction'),
    medium: facts.medium ?? type ?? placeholder('medium'),
    agent_uuid: agentId ?? placeholder('agent_uuid'),
    agent_number: fromNumber ?? placeholder('agent_number'),
    contact_number: toNumber ?? placeholder('contact_number'),
  }
  return withTestVariables(known, testVariables)
}

const directionOf = { phone: 'outbound', web: 'inbound' } as const

/** Longest greeting in a text for a model, characters. */
const maxShown = 600

const maxNamed = 10

/**
 * Describes for a model the spoken text and its empty variables, or says why they are not known.
 * Does not escape outside texts.
 */
export function spokenGreetingInWords(greeting: SpokenGreeting, max = maxShown): string {
  switch (greeting.kind) {
    case 'none':
      return `nothing is spoken first: ${greeting.why}`
    case 'unknown':
      return `not known: too large to render here: ${greeting.why}`
    case 'fails':
      return `it fails to render: ${greeting.error}`
    case 'spoken':
      return [
        `${greeting.isReworded ? 'the model words it from ' : ''}${shownText(greeting.text, max)}`,
        ...(greeting.empty.length > 0 ? [`EMPTY in it: ${named(greeting.empty)}`] : []),
        ...(greeting.fromPlatform.length > 0 ? ['[…] is filled by the platform'] : []),
      ].join('; ')
  }
}

function shownText(text: string, max: number): string {
  const shown = firstCharacters(text, max)
  const rest = text.length - shown.length
  return `"${shown}"${rest > 0 ? ` and ${rest} more characters` : ''}`
}

const named = (paths: readonly string[]) =>
  [
    ...paths.slice(0, maxNamed),
    ...(paths.length > maxNamed ? [`${paths.length - maxNamed} more`] : []),
  ].join(', ')
