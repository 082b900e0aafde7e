import { ProtocolError } from '@modelcontextprotocol/server'
import type { Session } from '../../session/session.ts'
import { clientText } from '../../text/client-text.ts'
import { closestWord } from '../../text/closest-match.ts'
import type { Tool } from '../call/tool.ts'
import type { Exposure } from './exposure.ts'
import type { RequestSender } from './request-sender.ts'

/** A call of a tool that is not there, or that is not exposed to the request. */
export interface UnknownToolCall {
  /** The tool that is not exposed; `undefined`: there is none of that name. */
  readonly tool: Tool | undefined
  readonly arguments: Readonly<Record<string, unknown>>
  readonly session: Session
  readonly sender: () => RequestSender
}

export type OnUnknownTool = (call: UnknownToolCall) => void

/** Records a call of such a tool, and gives the error that it is answered with. */
export function unknownToolError(
  name: string,
  { all, tools, hidden }: Exposure,
  call: Omit<UnknownToolCall, 'tool'>,
  onUnknownTool: OnUnknownTool | undefined,
): ProtocolError {
  onUnknownTool?.({ ...call, tool: all.find((one) => one.name === name) })
  const shown = call.session.redact(name)
  const reason = hidden.get(shown)
  if (reason) return new ProtocolError(-32602, `The tool ${shown} is not exposed by ${reason}.`)
  const names = tools.map((tool) => tool.name)
  const meant = closestWord(shown.slice(0, 64), names)
  const hint = meant ? ` Did you mean ${meant}?` : ''
  return new ProtocolError(-32602, `There is no tool ${clientText(shown)}.${hint}`)
}
