import { ToolResult } from '../harness/client.ts'
import { rpc } from '../harness/rpc.ts'

/**
 * Calls place_call on several servers of one platform, to confirm on one server a question of
 * another.
 */
export function confirmedCalls({ agentId, key }: { agentId: string; key: string }) {
  const callTo = (to_number: string) => ({
    type: 'phone',
    agent_id: agentId,
    from_number: '+493023125000',
    to_number,
  })
  const canAsk = { elicitation: {} }
  const yes = { confirm: { action: 'accept', content: { confirm: true } } }
  const place = (url: string, args: object, more: object = {}, capabilities = {}) =>
    rpc(url, 'tools/call', { name: 'place_call', arguments: args, ...more }, { capabilities, key })
  return {
    /** Requests a preview and returns its token. */
    async token(url: string, to: string): Promise<string> {
      const result = ToolResult.parse((await place(url, callTo(to))).result)
      const { confirmation } = Object(result.structuredContent)
      if (!confirmation?.confirm_token) throw new Error(JSON.stringify(result))
      return confirmation.confirm_token
    },
    /** Places a call with a token. */
    async withToken(url: string, to: string, confirm_token: string): Promise<ToolResult> {
      return ToolResult.parse((await place(url, { ...callTo(to), confirm_token })).result)
    },
    /** Makes a server ask the person, and returns the request state of the question. */
    async question(url: string, to: string): Promise<string> {
      const { result } = await place(url, callTo(to), {}, canAsk)
      if (!result.requestState) throw new Error(JSON.stringify(result))
      return String(result.requestState)
    },
    /** Places a call with the person's answer to a question. */
    answered: (url: string, to: string, requestState: string) =>
      place(url, callTo(to), { inputResponses: yes, requestState }, canAsk),
  }
}
