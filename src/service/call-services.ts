import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCallFollower } from '../calls/call-follower.ts'
import type { CallServices } from '../calls/call-services.ts'
import { CallsUnderWay } from '../calls/calls-under-way.ts'
import { PendingPermits } from '../calls/pending-permits.ts'
import { type CallingConfig, callingSettings } from '../config/calling.ts'
import { ConfigError } from '../config/config-error.ts'
import { settingLabel } from '../config/setting.ts'
import { createDialPolicy } from '../policy/dial-policy.ts'
import type { DialPolicyConfig } from '../policy/dial-policy-config.ts'
import { DialPolicyError, parseDialPolicy } from '../policy/parse-dial-policy.ts'
import type { CallCounter } from '../state/call-counter.ts'
import { createMemoryCallCounter } from '../state/memory/memory-call-counter.ts'
import { openOnce } from '../state/open-once.ts'
import { createSqliteCallCounter } from '../state/sqlite/sqlite-call-counter.ts'
import { openSqliteJournal } from '../state/sqlite/sqlite-journal.ts'

/** The call services of this process, with the files that they have opened. */
export interface OpenCallServices extends CallServices {
  close(): Promise<void>
}

/**
 * How long a call counts as under way when this process has ended before the call, ms: after a crash
 * `max_at_once` must not stay reached for hours.
 */
const leaseMs = 15 * 60_000

/**
 * Sets up what placing calls needs. The policy is read now, so that a mistake in it stops the start;
 * the files are opened with the first call. Throws ConfigError.
 */
export function openCallServices(
  { policy, stateDir, timing }: CallingConfig,
  { isSandbox }: { isSandbox: boolean },
): OpenCallServices {
  const { config, source } = readPolicy(policy)
  // Simulated calls do not count for the limits of real ones.
  const file = (name: string) =>
    stateDir === ':memory:' ? stateDir : join(stateDir, `${isSandbox ? 'sandbox-' : ''}${name}`)
  const counter: CallCounter =
    stateDir === ':memory:'
      ? createMemoryCallCounter()
      : createSqliteCallCounter(file('dialled.db'), settingLabel(callingSettings, 'state-dir'))
  const dialPolicy = createDialPolicy({ config, source, counter, leaseMs })
  const follower = createCallFollower()
  const journal = openOnce(() => openSqliteJournal(file('calls.db')))
  return {
    async journal() {
      const opened = await journal.get()
      await opened.restoreFile()
      return opened
    },
    policy: dialPolicy,
    follower,
    underWay:
      config?.max_at_once === undefined ? undefined : new CallsUnderWay(dialPolicy, follower),
    timing,
    pendingPermits: new PendingPermits(),
    async close() {
      await journal.close((opened) => opened.close())
      await counter.close()
    },
  }
}

function readPolicy(policy: CallingConfig['policy']): {
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
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`The dial policy ${source} cannot be read: ${reason}.`)
  }
}
