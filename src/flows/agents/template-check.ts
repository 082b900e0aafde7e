import { routes } from '../../contract/routes.ts'
import type { TemplateIssue } from '../../contract/template.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'

import { accountIn } from '../../session/account.ts'
import { isObject } from './field-changes.ts'

/** What the steps of a tool ask the platform with. */
export type Asking = Pick<Run, 'request' | 'session' | 'signal'>

/** Whether a text has anything of Jinja in it that could be wrong. */
const isTemplate = (text: string) => /\{[{%#]/.test(text)

/**
 * Checks a greeting before it is stored. A template that does not render is refused with the lines
 * that are wrong; what may be a mistake is given back as warnings.
 */
export async function checkGreeting(
  initialMessage: unknown,
  { request, session, signal }: Asking,
): Promise<string[]> {
  const template = isObject(initialMessage) ? initialMessage.message : undefined
  if (typeof template !== 'string' || !isTemplate(template)) return []
  const account_id = accountIn(request)
  const asked = { params: { account_id }, query: {}, body: { template } }
  const { valid, errors, warnings } = await session.client.call(
    routes.templates.validate,
    asked,
    signal,
  )
  if (valid) return warnings.map((issue) => `initial_message.message ${inWords(issue)}`)
  throw badArguments(
    errors.map((issue) => ({ argument: 'initial_message.message', message: inWords(issue) })),
  )
}

const inWords = ({ line, message }: TemplateIssue) =>
  typeof line === 'number' ? `line ${line}: ${message}` : message
