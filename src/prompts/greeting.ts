import type { Agent } from '../contract/agent.ts'
import { routes } from '../contract/routes.ts'
import type { TemplateValidation } from '../contract/template.ts'
import type { PromptReader, ReadResult } from '../mcp/protocol/prompt-reader.ts'

/** What the platform says of an agent's greeting; `undefined` where there is none to check. */
export async function greetingCheck(
  { initial_message }: Agent,
  reader: PromptReader,
): Promise<ReadResult<TemplateValidation> | undefined> {
  const template = initial_message?.message
  if (typeof template !== 'string' || template === '') return undefined
  return reader.attempt(reader.call(routes.templates.validate, { body: { template } }))
}
