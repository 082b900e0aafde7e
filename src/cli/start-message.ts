import type { ServiceConfig } from '../config/service.ts'
import type { Exposure } from '../mcp/protocol/exposure.ts'
import type { ToolSummary } from '../service/tool-summaries.ts'
import { log } from './stderr-log.ts'

/** Logs what is served: the platform, the account and how many tools. */
export function logStart(
  { platform, scope }: ServiceConfig,
  { all, tools }: Exposure<ToolSummary>,
): void {
  if (platform.kind === 'network') log(`Platform: ${platform.baseUrl.origin}`)
  else logSandbox({ platform })
  if (scope.account !== undefined) log(`Account: ${scope.account}, and no other.`)
  if (tools.length < all.length) log(`Exposing ${tools.length} of ${all.length} tools.`)
}

/** Logs that nothing is real, and where its data is kept; nothing for a real platform. */
export function logSandbox({ platform }: Pick<ServiceConfig, 'platform'>): void {
  if (platform.kind !== 'sandbox') return
  log(
    `SANDBOX: no real account, nothing is dialled. Data: ${platform.file}. Set VOICE_AGENT_API_KEY and VOICE_AGENT_BASE_URL for your own account.`,
  )
}
