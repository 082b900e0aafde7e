import type { Agent } from '../../contract/agent.ts'
import { knownVariables } from '../../contract/template.ts'
import { withTestVariables } from '../../contract/test-variables.ts'
import { firstCharacters } from '../../text/first-characters.ts'

type Variables = Readonly<Record<string, unknown>>

/** What is known of a call before it is placed; what is left out is known to the platform only. */
export interface GreetingFacts {
  readonly agentId?: string | undefined
  readonly fromNumber?: string | undefined
  readonly toNumber?: string | undefined
  /** Of the call to place: it says the direction too. */
  readonly type?: 'phone' | 'web' | undefined
  /** The argument of the call, which is passed on; otherwise its type. */
  readonly medium?: string | undefined
  readonly testVariables?: Variables | undefined
}

/** A greeting as it will be spoken, as far as that can be known before the call. */
export type SpokenGreeting =
  /** Nothing is spoken: `why` says it in words. */
  | { readonly kind: 'none'; readonly why: string }
  /**
   * It does not render. The platform checks templates when an agent is saved, and does not say what
   * becomes of a call whose greeting fails later; the sandbox places it, and says nothing.
   */
  | { readonly kind: 'fails'; readonly error: string; readonly empty: readonly string[] }
  /** It is too large to render here: what will be spoken is not known. */
  | { readonly kind: 'unknown'; readonly why: string }
  | {
      readonly kind: 'spoken'
      /** The whole text. What only the platform knows stands in it as `[contact.first_name]`. */
      readonly text: string
      /** Variables that are spoken as nothing, because no value is given: at most 100. */
      readonly empty: readonly string[]
      /** Variables in the text that the platform fills. */
      readonly fromPlatform: readonly string[]
      /** Mode `dynamic_message`: the model words it; the text is what it is told. */
      readonly isReworded: boolean
    }

/**
 * What rendering a greeting may take: a fiftieth of a second each for parsing and rendering, and a
 * longer text than anybody listens to. A template comes from outside and may be hostile.
 */
const limits = {
  maxSteps: 200_000,
  maxLength: 50_000,
  analysis: { maxSteps: 200_000, maxLength: 200_000 },
} as const

/** Renders a greeting with the variables of a call, as the platform does before it speaks. */
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

type SpokenText = Exclude<SpokenGreeting, { kind: 'none' }>

/** Renders a template that is spoken as it is. */
export async function spokenText(template: string, facts: GreetingFacts): Promise<SpokenText> {
  // Loaded when it is needed: few calls of tools render a template.
  const { render, TemplateError } = await import('../../jinja/index.ts')
  const empty: string[] = []
  const onGap = (path: string) => empty.push(path)
  try {
    const text = render(template, variablesOf(facts), { ...limits, onGap })
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

function variablesOf(facts: GreetingFacts): Variables {
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
    // A date, so that it can be formatted; it will be spoken a little later.
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

/** Most characters of a greeting that a text for a model shows. */
const mostShown = 600

/** Most variables that are named. */
const mostNamed = 10

/** What will be spoken, and what stays empty, in words for a model: texts from outside are not escaped. */
export function spokenGreetingInWords(greeting: SpokenGreeting, most = mostShown): string {
  switch (greeting.kind) {
    case 'none':
      return `nothing is spoken first: ${greeting.why}`
    case 'unknown':
      return `not known: too large to render here: ${greeting.why}`
    case 'fails':
      return `it fails to render: ${greeting.error}`
    case 'spoken':
      return [
        `${greeting.isReworded ? 'the model words it from ' : ''}${shownText(greeting.text, most)}`,
        ...(greeting.empty.length > 0 ? [`EMPTY in it: ${named(greeting.empty)}`] : []),
        ...(greeting.fromPlatform.length > 0 ? ['[…] is filled by the platform'] : []),
      ].join('; ')
  }
}

function shownText(text: string, most: number): string {
  const shown = firstCharacters(text, most)
  const rest = text.length - shown.length
  return `"${shown}"${rest > 0 ? ` and ${rest} more characters` : ''}`
}

const named = (paths: readonly string[]) =>
  [
    ...paths.slice(0, mostNamed),
    ...(paths.length > mostNamed ? [`${paths.length - mostNamed} more`] : []),
  ].join(', ')
