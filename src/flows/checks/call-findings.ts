import { ignoreApiError } from '../../api/failure.ts'
import { resultOr } from '../../api/time-limit.ts'
import type { Agent } from '../../contract/agent.ts'
import type { Run } from '../../mcp/call/tool.ts'
import type { CacheTime } from '../../session/reply-cache.ts'
import { checkAccounts } from './account-check.ts'
import { type AccountReader, accountReader } from './account-reader.ts'
import { checkNotArchived } from './archived-check.ts'
import type { CheckResult } from './check-result.ts'
import { lookUpFromNumber } from './from-number-check.ts'

/** What is known of a call before it is placed, as far as it could be read in time. */
export interface CallFindings {
  /** What the number that is called from is called. */
  readonly fromName: string | undefined
  /** Why the call will probably fail. */
  readonly problems: readonly CheckResult[]
}

/** How long a question waits for what is found, ms. */
const longestWaitMs = 1000

type FindingsRun = Pick<Run, 'request' | 'restricted' | 'signal'>

/** One thing to look at. */
interface Look {
  readonly checks: readonly CheckResult[]
  readonly fromName?: string | undefined
}

/**
 * What the person who confirms a call should know. The call is not refused for it, because the
 * reference does not say whether the platform would take it. All is read at once, and what takes
 * too long, or cannot be read, is left out.
 */
export async function callFindings(
  run: FindingsRun,
  { from, agent }: { readonly from: string | undefined; readonly agent: Agent },
): Promise<CallFindings> {
  const { pinnedAccount } = run.restricted
  const looks = await Promise.all([
    from === undefined ? undefined : look(run, 'names', (reader) => lookAtNumber(from, reader)),
    look(run, 'account', async (reader) => ({
      checks: await checkAccounts(reader, pinnedAccount),
    })),
    look(run, 'names', async (reader) => ({ checks: [await checkNotArchived(agent, reader)] })),
  ])
  const found = looks.filter((one) => one !== undefined)
  return {
    fromName: found.find(({ fromName }) => fromName)?.fromName,
    problems: found.flatMap(({ checks }) => checks.filter(({ ok }) => !ok)),
  }
}

async function lookAtNumber(from: string, reader: AccountReader): Promise<Look> {
  const { number, checks } = await lookUpFromNumber(from, reader)
  return { checks, fromName: number?.friendly_name ?? undefined }
}

/** Looks with cached replies; a problem is read again before it is told. */
function look(
  { request, restricted, signal }: FindingsRun,
  time: CacheTime,
  lookWith: (reader: AccountReader) => Promise<Look>,
): Promise<Look | undefined> {
  const reader = accountReader({ request, session: restricted, signal })
  const lookAt = (how: 'cached' | 'refreshed') =>
    lookWith({ ...reader, call: (route, given) => reader[how](route, given, time) })
  const found = lookAt('cached')
    .then((cached) => (cached.checks.every(({ ok }) => ok) ? cached : lookAt('refreshed')))
    .catch(ignoreApiError)
  return resultOr<Look | undefined, undefined>(found, () => undefined, { ms: longestWaitMs })
}
