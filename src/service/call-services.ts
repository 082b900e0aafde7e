import { readFileSync } from 'node:fs'
import { createCallFollower } from '../calls/call-follower.ts'
import type { CallServices } from '../calls/call-services.ts'
import { CallsUnderWay } from '../calls/calls-under-way.ts'
import { type CallingConfig, callingSettings } from '../config/calling.ts'
import { ConfigError } from '../config/config-error.ts'
import { settingLabel } from '../config/setting.ts'
import { createDialPolicy } from '../policy/dial-policy.ts'
import type { DialPolicyConfig } from '../policy/dial-policy-config.ts'
import { DialPolicyError, parseDialPolicy } from '../policy/parse-dial-policy.ts'
import { createCallBatches } from '../state/call-batches.ts'
import type { State } from '../state/state.ts'

/**
 * How long a call counts as under way when this process has ended before the call, ms: after a crash
 * `max_at_once` must not stay reached for hours.
 */
const leaseMs = 15 * 60_000

/**
 * Sets up what placing calls needs. The policy is read now, so that a mistake in it stops the start.
 * Throws ConfigError.
 */
export function createCallServices(
  { policy, timing }: CallingConfig,
  { journal, callCounter, records }: State,
): CallServices {
  const { config, source } = readPolicy(policy)
  const dialPolicy = createDialPolicy({ config, source, counter: callCounter, leaseMs })
  const follower = createCallFollower()
  return {
    journal,
    batches: createCallBatches(records),
    policy: dialPolicy,
    follower,
    underWay:
      config?.max_at_once === undefined ? undefined : new CallsUnderWay(dialPolicy, follower),
    timing,
  }
}

/** The operator's policy, and how messages name it. Throws ConfigError. */
export function readPolicy(policy: CallingConfig['policy']): {
  config: DialPolicyConfig | undefined
  source: string
} {
  if (policy === undefined)
    return { config: undefined, source: settingLabel(callingSettings, 'dial-policy') }
  const source = 'file' in policy ? policy.file : policy.source
  try {
    const text = 'file' in policy ? readFileSync(policy.file, 'utf8') : policy.text
    return { config: parseDialPolicy(text, source), source }
  } catch (error) {
    if (error instanceof DialPolicyError) throw new ConfigError(error.message)
    if (!(error instanceof Error)) throw error
    const isMissing = 'code' in error && error.code === 'ENOENT'
    const reason = isMissing ? 'there is no such file' : error.message
    throw new ConfigError(
      `The dial policy ${source} cannot be read: ${reason}. Name a JSON file with ${settingLabel(callingSettings, 'dial-policy')}, or leave it out for no policy.`,
    )
  }
}
