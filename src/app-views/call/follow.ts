import type { Args, Page } from '../shared/view.ts'
import { type CallData, joinCalls } from './data.ts'

/** How often a call that goes on is read, ms. */
const everyMs = 3000

/** The tool that reads this call again, and its arguments. `undefined`: it has no id. */
export function readingOf(
  call: CallData,
): { readonly tool: string; readonly args: Args } | undefined {
  const { id, conversation_id, account_id } = call
  const account = account_id ? { account_id } : {}
  if (id) return { tool: 'get_call', args: { ...account, call_id: id } }
  if (conversation_id)
    return { tool: 'get_conversation', args: { ...account, id: conversation_id } }
  return undefined
}

/** After so many failures in a row a call is followed no longer. */
const mostFailures = 4

/**
 * Reads a call that goes on again and again, only its new turns, until it has ended. After a failure it
 * waits longer each time; `giveUp` is called after the last.
 */
export async function follow(
  call: CallData,
  { call: read, signal }: Page<CallData>,
  giveUp: () => void,
): Promise<void> {
  const reading = readingOf(call)
  if (!reading) return
  const { spoken = [] } = call.transcript ?? {}
  // A wait shows only the latest turns.
  const last = spoken[0]?.turn === 1 ? spoken.at(-1)?.turn : undefined
  const args = { ...reading.args, ...(last !== undefined && { from_turn: last }) }
  for (let failures = 0; failures < mostFailures; ) {
    await new Promise((done) => setTimeout(done, everyMs * 2 ** failures))
    if (signal.aborted) return
    if (document.visibilityState !== 'visible') continue
    const isRead = await read(reading.tool, args, { join: joinCalls, isQuiet: true })
    if (signal.aborted) return
    failures = isRead ? 0 : failures + 1
  }
  giveUp()
}
