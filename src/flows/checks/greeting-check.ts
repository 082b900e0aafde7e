import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import type { TemplateIssue } from '../../contract/template.ts'
import { isObject } from '../../json/is-object.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import type { AccountReader } from './account-reader.ts'
import { type CheckResult, ok, problem, warning } from './check-result.ts'
import { unfilledVariables, variablePaths } from './template-variables.ts'

/** True if a text contains any Jinja. */
const isTemplate = (text: string) => /\{[{%#]/.test(text)

const issueText = ({ line, message }: TemplateIssue) =>
  typeof line === 'number' ? `line ${line}: ${message}` : message

/**
 * Checks a greeting before it is saved. Returns warnings; throws Refused with all errors if the
 * template does not render.
 */
export async function checkNewGreeting(
  initialMessage: unknown,
  { call }: Pick<AccountReader, 'call'>,
): Promise<string[]> {
  const template = isObject(initialMessage) ? initialMessage.message : undefined
  if (typeof template !== 'string' || !isTemplate(template)) return []
  const argument = 'initial_message.message'
  const { valid, errors, warnings } = await call(routes.templates.validate, { body: { template } })
  if (valid) return warnings.map((issue) => `${argument} ${issueText(issue)}${gapText(issue)}`)
  throw badArguments(errors.map((issue) => ({ argument, message: issueText(issue) })))
}

/**
 * What a variable that nothing fills does to a call. One in an object that does not exist is an error
 * in Jinja, and what the platform does then is not documented.
 */
function gapText({ variable }: TemplateIssue): string {
  if (!variable) return ''
  const gap = variable.includes('.') ? 'perhaps without the greeting' : 'with a gap there'
  return `; calls are placed all the same, ${gap} unless test_variables fill it`
}

/** Most variables, and most other warnings, that a check names. */
const mostVariables = 10
const mostWarnings = 3

/**
 * Checks the greeting of an agent for a call with these variables. The platform places the call even
 * if nothing fills a variable [R], so that is a warning: the agent would speak a gap. Throws ApiError.
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
  // Warnings about variables are decided by what fills the variables.
  const others = warnings.filter(({ variable }) => !variable).slice(0, mostWarnings)
  if (empty.length > 0)
    return warning(
      'greeting',
      [emptyText(empty), ...others.map(issueText)].join('; '),
      'give test_variables for them, or correct initial_message with update_agent',
    )
  return others.length > 0
    ? warning(
        'greeting',
        others.map(issueText).join('; '),
        'correct initial_message with update_agent, if it is a mistake',
      )
    : ok('greeting', 'all its variables are known or have a default')
}

function emptyText(empty: readonly string[]): string {
  const more = empty.length > mostVariables ? ` and ${empty.length - mostVariables} more` : ''
  return `nothing fills ${empty.slice(0, mostVariables).join(', ')}${more}`
}

/** A text is only needed in the mode that speaks it, which is the default [R]. */
const noGreetingCheck = (mode: unknown): CheckResult =>
  (mode ?? 'fixed_message') === 'fixed_message'
    ? warning(
        'greeting',
        'there is no text for the mode fixed_message',
        'set initial_message.message, or another mode, with update_agent',
      )
    : ok('greeting', 'none')
