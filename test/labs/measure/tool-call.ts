import assert from 'node:assert/strict'
import { ToolResult } from '../../harness/client.ts'
import { type RpcOptions, rpc } from '../../harness/rpc.ts'

/** Calls a tool over HTTP. Throws where there is a protocol error. */
export async function callBuiltTool(
  url: string,
  name: string,
  args: Record<string, unknown> = {},
  options?: RpcOptions,
): Promise<ToolResult> {
  const { result, error } = await rpc(url, 'tools/call', { name, arguments: args }, options)
  assert.equal(error, undefined)
  return ToolResult.parse(result)
}

/** The text of a result, for people and models. */
export const textOf = ({ content }: ToolResult): string =>
  content.map(({ text }) => text).join('\n')
