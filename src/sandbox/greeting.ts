import type { CallCreate } from '../contract/call.ts'
import { isPlainObject } from './agent-config.ts'

/** The agent's opening words in a call, rendered; empty when the caller speaks first. */
export function renderGreeting(
  config: Readonly<Record<string, unknown>>,
  call: CallCreate & { agentId: string },
): string {
  const opening = config.initial_message
  if (!isPlainObject(opening) || opening.mode === 'user_first') return ''
  const message = opening.message
  return typeof message === 'string' ? message : ''
}
