import { readFileSync } from 'node:fs'
import { CallFollower } from '../calls/call-follower.ts'
import type { CallServices } from '../calls/placement.ts'
import { RunningCalls } from '../calls/running-calls.ts'
import { ConfigError } from '../cli/config/config-error.ts'
import { type CallingConfig, callingSettings } from '../cli/config/service-settings.ts'
import { settingLabel } from '../cli/config/setting.ts'
import { createDialPolicy, type DialPolicy } from '../policy/dial-policy.ts'
import {
  type DialPolicyConfig,
  DialPolicyError,
  parseDialPolicy,
} from '../policy/dial-policy-config.ts'
import { createCallBatches } from '../state/call-batches.ts'
import { readCallStop } from '../state/call-stop.ts'
import type { State } from '../state/state.ts'
import type { Audit } from './audit/audit.ts'
import type { Observer } from './observe/observer.ts'

/**
 * Lease of a running call in `max_at_once`, ms. After a crash of the server, the call
 * counts until its lease expires.
 */
const leaseMs = 15 * 60_000

/**
 * Creates the services that place phone and web calls. The policy is read now, so that the server
 * does not start with a faulty policy. Its decisions go to the metrics, outcomes of calls to the
 * audit trail. Throws ConfigError.
 */
export function createCallServices(
  { policy, timing }: CallingConfig,
  { journal, callCounter, records }: State,
  { observer, audit }: { observer: Observer | undefined; audit: Audit | undefined },
): CallServices {
  const { config, source } = readPolicy(policy)
  const callStop = () => readCallStop(journal)
  const dialPolicy = createDialPolicy({ config, source, counter: callCounter, callStop, leaseMs })
  const follower = new CallFollower()
  return {
    journal: audit ? audit.journal(journal) : journal,
    batches: createCallBatches(records),
    policy: observer ? observedDialPolicy(dialPolicy, observer) : dialPolicy,
    follower,
    runningCalls:
      config?.max_at_once === undefined ? undefined : new RunningCalls(dialPolicy, follower),
    timing,
  }
}

/**
 * Reads the operator's dial policy. `given`: its file, or its JSON text. `source`: its origin, for
 * messages. Throws ConfigError.
 */
export function readPolicy(given: string | undefined): {
  config: DialPolicyConfig | undefined
  source: string
} {
  const setting = settingLabel(callingSettings, 'dial-policy')
  if (given === undefined) return { config: undefined, source: setting }
  const isText = given.startsWith('{')
  const source = isText ? setting : given
  try {
    const text = isText ? given : readFileSync(given, 'utf8')
    return { config: parseDialPolicy(text, source), source }
  } catch (error) {
    if (error instanceof DialPolicyError) throw new ConfigError(error.message)
    if (!(error instanceof Error)) throw error
    const isMissing = 'code' in error && error.code === 'ENOENT'
    const reason = isMissing ? 'there is no such file' : error.message
    throw new ConfigError(
      `The dial policy ${source} cannot be read: ${reason}. Name a JSON file with ${setting}, or leave it out for no policy.`,
    )
  }
}

/**
 * Records the decisions of a dial policy. `check` runs before a person is asked, `reserve` right
 * before the call is sent, so most refusals come from `check`.
 */
function observedDialPolicy(policy: DialPolicy, observer: Observer): DialPolicy {
  return {
    ...policy,
    async check(request) {
      const decision = await policy.check(request)
      if (!decision.allowed) observer.dialDecided('refused', decision.rule)
      return decision
    },
    async reserve(request, call) {
      const decision = await policy.reserve(request, call)
      if (decision.allowed) observer.dialDecided('allowed', '')
      else observer.dialDecided('refused', decision.rule)
      return decision
    },
    async notPlaced(id) {
      observer.dialDecided('not_placed', '')
      await policy.notPlaced(id)
    },
  }
}
