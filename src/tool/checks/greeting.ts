import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { knownVariables, type TemplateIssue, withTestVariables } from '../../contract/template.ts'
import { isObject } from '../../text/json.ts'
import { joinedUpTo } from '../../text/labels.ts'
import { firstCharacters } from '../../text/safe-text.ts'
import type { AccountReader } from '../account-reader.ts'
import { badArguments } from '../refused.ts'
import { type CheckResult, ok, problem, warning } from './readiness.ts'

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

type SpokenText = Exclude<SpokenGreeting, { kind: 'none' }>

/** Renders a template that is spoken word for word. */
async function spokenText(template: string, facts: GreetingFacts): Promise<SpokenText> {
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

/* Checks of a greeting: when an agent is saved, and before a call. */

const isTemplate = (text: string) => /\{[{%#]/.test(text)

/** An issue as part of a sentence, without a full stop. */
const issueText = ({ line, message }: TemplateIssue) => {
  const text = message.replace(/\.$/, '')
  return typeof line === 'number' ? `line ${line}: ${text}` : text
}

interface NewGreeting {
  readonly warnings: readonly string[]
  /** Variables that have no default and that nothing is known to fill. */
  readonly unknown: readonly string[]
}

/**
 * Checks a greeting before it is saved. Throws Refused with all errors if the template cannot be
 * rendered.
 */
export async function checkNewGreeting(
  initialMessage: unknown,
  { call }: Pick<AccountReader, 'call'>,
): Promise<NewGreeting> {
  const template = isObject(initialMessage) ? initialMessage.message : undefined
  if (typeof template !== 'string' || !isTemplate(template)) return { warnings: [], unknown: [] }
  const argument = 'initial_message.message'
  const { valid, errors, warnings, unknown_variables } = await call(routes.templates.validate, {
    body: { template },
  })
  if (valid) {
    const spoken = await spokenText(template, {})
    return {
      warnings: warnings.map((issue) => `${argument} ${issueText(issue)}${gapText(issue, spoken)}`),
      unknown: unfilledVariables(unknown_variables, template, []),
    }
  }
  const messages = errors.length > 0 ? errors.map(issueText) : ['the template does not render']
  throw badArguments(messages.map((message) => ({ argument, message })))
}

/**
 * The effect of an unfilled variable; empty if the template has a default for it. A field of an
 * undefined object is an error in Jinja; the platform's behaviour is undocumented.
 */
function gapText({ variable }: TemplateIssue, spoken: SpokenText): string {
  if (!variable) return ''
  const hasGap = 'empty' in spoken ? spoken.empty.includes(variable) : !variable.includes('.')
  const mayFail = spoken.kind !== 'spoken' && variable.includes('.')
  if (!hasGap && !mayFail) return ''
  const gap = hasGap ? 'with a gap there' : 'perhaps without the greeting'
  return `; calls are placed all the same, ${gap} unless test_variables fill it`
}

/** Maximum number of variables named in a warning. */
const maxVariables = 10

/** Maximum number of other warnings shown. */
const maxWarnings = 3

/**
 * Checks an agent's greeting for a call with these variables. The platform places the call even if
 * variables are unfilled [R], so they are only a warning: the agent would speak a gap. Throws
 * ApiError.
 */
export async function checkGreeting(
  { initial_message: greeting }: Pick<Agent, 'initial_message'>,
  testVariables: Readonly<Record<string, unknown>>,
  { call }: Pick<AccountReader, 'call'>,
): Promise<CheckResult> {
  const template = greeting?.message
  if (typeof template !== 'string' || template === '') return noGreetingCheck(greeting?.mode)
  const given = variablePaths(testVariables)
  const body = { template, allowed_variables: given }
  const validation = await call(routes.templates.validate, { body })
  const { valid, errors, warnings } = validation
  if (!valid) {
    const found = errors[0] ? issueText(errors[0]) : 'it does not render'
    return problem('greeting', found, 'correct initial_message with update_agent')
  }
  const empty = unfilledVariables(validation.unknown_variables, template, given)
  // The check reports the variables that stay empty, so the platform's own warnings about variables
  // are dropped.
  const others = warnings.filter(({ variable }) => !variable).slice(0, maxWarnings)
  if (empty.length > 0)
    return warning(
      'greeting',
      [`nothing fills ${joinedUpTo(empty, maxVariables)}`, ...others.map(issueText)].join('; '),
      'give test_variables for them',
      'correct initial_message with update_agent',
    )
  return others.length > 0
    ? warning(
        'greeting',
        others.map(issueText).join('; '),
        'correct initial_message with update_agent, if it is a mistake',
      )
    : ok('greeting', 'all its variables are known or have a default')
}

/**
 * A missing text is a problem only in the mode that speaks a fixed text, which is the default [R].
 */
const noGreetingCheck = (mode: unknown): CheckResult =>
  (mode ?? 'fixed_message') === 'fixed_message'
    ? warning(
        'greeting',
        'there is no text for the mode fixed_message',
        'set initial_message.message or another mode with update_agent',
      )
    : ok('greeting', 'none')

/** Paths of the given variables: `{customer: {name: 'A'}}` fills `customer` and `customer.name`. */
export function variablePaths(variables: Readonly<Record<string, unknown>>, above = ''): string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const path = above ? `${above}.${name}` : name
    return [path, ...(isObject(value) ? variablePaths(value, path) : [])]
  })
}

/**
 * Variables that would be empty: unknown, and without a default. In Jinja the filter `default`
 * replaces a missing field, but fails if the field's object is missing.
 */
function unfilledVariables(
  unknown: readonly string[],
  template: string,
  given: readonly string[],
): string[] {
  if (!/\|\s*(?:default|d)\b/.test(template)) return [...unknown]
  const code = template.match(/\{\{.*?\}\}|\{%.*?%\}/gs) ?? []
  const objects = new Set([...knownVariables, ...given].map(rootOf))
  return unknown.filter((path) => {
    const isField = path !== rootOf(path)
    return (isField && !objects.has(rootOf(path))) || !hasDefault(path, code.join('\n'))
  })
}

const rootOf = (path: string) => path.split(/[.[]/, 1)[0] ?? path

/** True if the filter `default` follows the variable wherever the template reads it. */
function hasDefault(path: string, code: string): boolean {
  const name = path.replaceAll(/[^\w]/g, '\\$&')
  const uses = [
    ...code.matchAll(
      new RegExp(`(?<![\\w.'"])${name}(?![\\w.([])(\\s*\\|\\s*(?:default|d)\\b)?`, 'g'),
    ),
  ]
  return uses.length > 0 && uses.every(([, filter]) => filter !== undefined)
}
