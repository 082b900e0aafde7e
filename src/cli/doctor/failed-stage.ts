import type { Inspection } from '../../service/inspection.ts'
import type { Connection } from './connections.ts'
import type { PlatformCheckName } from './platform-check-names.ts'
import type { PlatformSession } from './platform-session.ts'

/** Where on its way to the platform a request can fail: the check that reports it. */
export type Stage = Extract<PlatformCheckName, 'dns' | 'proxy' | 'tls' | 'platform'>

/** Where the first request has failed; `undefined`: the platform has answered as the API. */
export async function failedStage(
  session: PlatformSession,
  { isCertificateProblem }: Inspection,
): Promise<Stage | undefined> {
  const { failure } = await session.first
  if (failure === undefined) return undefined
  if (failure.kind === 'rejected') return isRefusalOfApi(failure.status) ? undefined : 'platform'
  if (failure.kind === 'timeout' && isHeldByProxy(session)) return 'proxy'
  if (failure.kind !== 'network') return 'platform'
  const { code } = failure
  if (code.startsWith('PROXY_') || hasFailedAtProxy(session)) return 'proxy'
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(code)) return 'dns'
  return isCertificateProblem(code) || /SSL|TLS|EPROTO/.test(code) ? 'tls' : 'platform'
}

/** The statuses with which the API refuses a key, not the path. */
const isRefusalOfApi = (status: number) => [401, 402, 403, 429].includes(status)

/** The host of the proxy; `undefined`: there is none. */
const proxyHost = ({ config }: PlatformSession): string | undefined =>
  config.proxy && new URL(config.proxy.url).hostname

/** Whether the connection that was tried goes to the proxy: some hosts are reached without it. */
export function usesProxy(session: PlatformSession): boolean {
  const host = proxyHost(session)
  const { made, failed } = session.connections
  return [...made.map((one) => one.host), ...failed].some((one) => one === host)
}

const hasFailedAtProxy = (session: PlatformSession) => {
  const host = proxyHost(session)
  return (
    session.connections.failed.some((one) => one === host) &&
    !session.connections.made.some((one) => one.host === host)
  )
}

/** Whether there is a connection to the proxy, and it has made none to the platform. */
const isHeldByProxy = (session: PlatformSession) => {
  const { hostname } = session.config.baseUrl
  const { made } = session.connections
  return made.some(({ host }) => host === proxyHost(session)) && !isConnected(made, hostname)
}

const isConnected = (made: readonly Connection[], hostname: string) =>
  made.some(({ host }) => host === hostname.replace(/^\[|\]$/g, ''))
