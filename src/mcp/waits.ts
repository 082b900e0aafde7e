import { isObject } from '../text/json.ts'
import type { Tool } from '../tool/tool.ts'
import type { Exposure } from './exposure.ts'
import type { ToolCatalogue } from './tools.ts'

/** How many calls of tools in a message or batch wait for telephone calls, each for up to a minute. */
export type CountWaits = (message: unknown, exposure: Exposure) => number

export const createWaitCount =
  (catalogueOf: (exposure: Exposure) => ToolCatalogue): CountWaits =>
  (message, exposure) => {
    const messages: readonly unknown[] = Array.isArray(message) ? message : [message]
    const calls = messages.filter(isToolCall)
    if (calls.length === 0) return 0
    const { byName } = catalogueOf(exposure)
    return calls.filter(({ params }) => isWait(params, byName)).length
  }

interface ToolCall {
  readonly params: Readonly<Record<string, unknown>>
}

/** Not parsed by a schema: this is done for every request, and the message is parsed later. */
const isToolCall = (message: unknown): message is ToolCall =>
  isObject(message) && message.method === 'tools/call' && isObject(message.params)

function isWait(
  { name, arguments: given }: ToolCall['params'],
  byName: ReadonlyMap<string, Tool>,
): boolean {
  const waits = typeof name === 'string' ? byName.get(name)?.waits : undefined
  if (!waits) return false
  return waits === 'always' || (isObject(given) && isTrue(given[waits.with]))
}

/** Texts are read as what they mean (see tool/coercion.ts). */
const isTrue = (value: unknown) =>
  value === true || (typeof value === 'string' && value.trim().toLowerCase() === 'true')
