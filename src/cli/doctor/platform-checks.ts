import type { Inspection } from '../../service/inspection.ts'
import { type Check, type Finding, green, notConfigured } from './check.ts'
import { contractCheck } from './contract/contract-check.ts'
import type { DoctorConfig } from './doctor-config.ts'
import { keyChecks } from './key-checks.ts'
import { networkChecks } from './network-checks.ts'
import { platformCheck } from './platform-check.ts'
import { platformCheckTitles, seeOther } from './platform-check-names.ts'
import { openPlatformSession } from './platform-session.ts'
import { sandboxFault } from './state-check.ts'

interface PlatformChecks {
  readonly checks: readonly Check[]
  close(): Promise<void>
}

/** Everything that is checked of the platform, with one connection to it. */
export async function platformChecks(
  config: DoctorConfig,
  inspection: Inspection,
): Promise<PlatformChecks> {
  const { platform, scope, settings, env, version } = config
  if (!platform) return only(() => notConfigured)
  if (platform.kind === 'sandbox') return only(() => sandbox(platform, inspection))
  const session = await openPlatformSession(platform, inspection, version)
  const keyOrigin = settings.find(({ name }) => name === 'api-key')?.from ?? ''
  return {
    checks: [
      platformCheck(session, inspection),
      ...networkChecks(session, inspection, env),
      ...keyChecks(session, inspection, { account: scope?.account, keyOrigin }),
      contractCheck(session, inspection),
    ],
    close: session.close,
  }
}

/** Without a platform on the network; a program finds its checks all the same. */
const only = (run: Check['run']): PlatformChecks => ({
  checks: Object.entries(platformCheckTitles).map(([name, title]) => ({
    name,
    title,
    run: name === 'platform' ? run : () => seeOther('platform'),
  })),
  close: async () => undefined,
})

type Sandbox = Extract<NonNullable<DoctorConfig['platform']>, { kind: 'sandbox' }>

async function sandbox(config: Sandbox, { openPlatform }: Inspection): Promise<Finding> {
  const fault = await sandboxFault(config.file, async () => {
    const opened = await openPlatform(config, () => undefined)
    await opened.prepare().finally(() => opened.close())
  })
  const text = `The built-in sandbox, because neither a key nor an address is set: no real account, nothing is dialled. Its data: ${config.file}.`
  return fault === undefined
    ? green(`${text} Set VOICE_AGENT_API_KEY and VOICE_AGENT_BASE_URL for your own account.`)
    : { light: 'red', text: `${text} ${fault.text}`, todo: fault.todo }
}
