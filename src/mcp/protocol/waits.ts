import * as z from 'zod'
import type { Tool } from '../call/tool.ts'
import type { GetHeader } from './envelope.ts'
import type { Exposure } from './exposure.ts'
import type { ExposureOfRequest } from './request-exposure.ts'
import type { ToolCatalogue } from './tool-catalogue.ts'

/** How many calls of tools in a message or batch wait for telephone calls, each for up to a minute. */
export type CountWaits = (message: unknown, header: GetHeader) => number

const ToolCall = z.object({
  method: z.literal('tools/call'),
  params: z.object({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
  }),
})

export function createWaitCount({
  exposureFor,
  catalogueOf,
}: {
  readonly exposureFor: ExposureOfRequest
  readonly catalogueOf: (exposure: Exposure) => ToolCatalogue
}): CountWaits {
  return (message, header) => {
    const requested = exposureFor(header)
    if (!requested.ok) return 0
    const { byName } = catalogueOf(requested.exposure)
    const messages: readonly unknown[] = Array.isArray(message) ? message : [message]
    return messages.filter((one) => isWait(one, byName)).length
  }
}

function isWait(message: unknown, byName: ReadonlyMap<string, Tool>): boolean {
  const { data } = ToolCall.safeParse(message)
  const waits = data && byName.get(data.params.name)?.waits
  if (!waits) return false
  return waits === 'always' || isTrue(data.params.arguments?.[waits.with])
}

/** Texts are read as what they mean (see read-as-meant.ts). */
const isTrue = (value: unknown) =>
  value === true || (typeof value === 'string' && value.trim().toLowerCase() === 'true')
