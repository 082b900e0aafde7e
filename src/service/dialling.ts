import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CallsUnderWay } from '../calls/calls-under-way.ts'
import type { Dialling } from '../calls/dialling.ts'
import { createFollower } from '../calls/follow.ts'
import { Unsettled } from '../calls/unsettled.ts'
import type { CallingConfig } from '../config/config.ts'
import { ConfigError } from '../config/flags.ts'
import { shownName } from '../config/settings.ts'
import { createDialPolicy } from '../policy/dial-policy.ts'
import { type DialPolicyConfig, DialPolicyError, parseDialPolicy } from '../policy/policy.ts'
import { type Journal, openJournal } from '../state/journal.ts'
import { type CallLedger, createMemoryLedger } from '../state/ledger.ts'
import { createSqliteLedger } from '../state/sqlite-ledger.ts'

/** Dialling, as this process does it, with what it has opened. */
export interface Calling extends Dialling {
  close(): Promise<void>
}

/**
 * How long a call counts as under way when this process is gone and nobody says that it has ended,
 * ms: after a crash no limit of calls at once may keep an operator waiting for hours.
 */
const leaseMs = 15 * 60_000

/**
 * Sets up how calls are placed. The policy is read now, so that a mistake in it is told at once;
 * what is remembered is opened with the first call. Throws ConfigError.
 */
export function openCalling(
  { policy, stateDir, timing }: CallingConfig,
  { isSandbox }: { isSandbox: boolean },
): Calling {
  const { config, source } = readPolicy(policy)
  // Simulated calls are none that count.
  const file = (name: string) =>
    stateDir === ':memory:' ? stateDir : join(stateDir, `${isSandbox ? 'sandbox-' : ''}${name}`)
  const ledger: CallLedger =
    stateDir === ':memory:'
      ? createMemoryLedger()
      : createSqliteLedger(file('dialled.db'), shownName('state-dir'))
  const dialPolicy = createDialPolicy({ config, source, ledger, leaseMs })
  const follower = createFollower()
  let journal: Promise<Journal> | undefined
  return {
    async journal() {
      journal ??= openJournal(file('calls.db'))
      const opened = await journal.catch((error: unknown) => {
        // Whatever was wrong with the file may be mended by the next call.
        journal = undefined
        throw error
      })
      await opened.keep()
      return opened
    },
    policy: dialPolicy,
    follower,
    underWay:
      config?.max_at_once === undefined ? undefined : new CallsUnderWay(dialPolicy, follower),
    timing,
    unsettled: new Unsettled(),
    async close() {
      const opened = await journal?.catch(() => undefined)
      opened?.close()
      await ledger.close()
    },
  }
}

function readPolicy(policy: CallingConfig['policy']): {
  config: DialPolicyConfig | undefined
  source: string
} {
  if (policy === undefined) return { config: undefined, source: shownName('dial-policy') }
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
