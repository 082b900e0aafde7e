import type { Agent } from '../contract/agent.ts'
import { routes } from '../contract/routes.ts'
import type { TemplateValidation } from '../contract/template.ts'
import type { Read, Sources } from './sources.ts'

/** What the platform says of an agent's greeting; `undefined` where there is none to check. */
export async function greetingCheck(
  { initial_message }: Agent,
  sources: Sources,
): Promise<Read<TemplateValidation> | undefined> {
  const template = initial_message?.message
  if (typeof template !== 'string' || template === '') return undefined
  return sources.beside(routes.templates.validate, { body: { template } })
}
