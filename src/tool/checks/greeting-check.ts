import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { knownVariables, type TemplateIssue } from '../../contract/template.ts'
import { isObject } from '../../text/json.ts'
import { joinedUpTo } from '../../text/labels.ts'
import type { AccountReader } from '../account-reader.ts'
import { badArguments } from '../refused.ts'
import { type CheckResult, ok, problem, warning } from './readiness.ts'
import { type SpokenText, spokenText } from './spoken-greeting.ts'

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
