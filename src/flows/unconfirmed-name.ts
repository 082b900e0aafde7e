import type { Agreement } from '../mcp/call/confirmation.ts'
import { badArguments } from '../mcp/call/refused.ts'
import type { Run } from '../mcp/call/tool.ts'

/**
 * What cannot be undone is done to a thing that was given by name only after a question that has shown
 * the thing; where nobody is asked, it takes the id. Throws Refused.
 */
export function refuseUnconfirmedName(
  { named, request }: Pick<Run, 'named' | 'request'>,
  { by }: Agreement,
  argument: 'phone_number_id' | 'sip_trunk_id',
): void {
  const name = named[argument]
  if (by === 'person' || by === 'token' || name === undefined) return
  const message = `give the id, because nobody is asked before a delete here (--confirm never): ${name} has the id ${request.params[argument]}`
  throw badArguments([{ argument, message }])
}
