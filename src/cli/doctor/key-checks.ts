import type { Account } from '../../contract/account.ts'
import { routes } from '../../contract/routes.ts'
import { type Failure, failureText } from '../../platform/failure.ts'
import { type Check, checkNamed, type Finding, green, seeOther, skipped } from './check.ts'
import type { PlatformSession } from './platform-session.ts'
import { failedStage } from './platform-session.ts'

/** The key, the account that tools act on, and the clock: what an answer of the API tells. */
export function keyChecks(
  session: PlatformSession,
  { account, keyOrigin }: { readonly account: string | undefined; readonly keyOrigin: string },
): Check[] {
  return [
    checkNamed('api_key', () => apiKey(session, keyOrigin)),
    checkNamed('account', () =>
      account === undefined
        ? skipped('None is pinned (--account).')
        : pinnedAccount(session, account),
    ),
    checkNamed('clock', () => clock(session)),
  ]
}

async function apiKey(session: PlatformSession, origin: string): Promise<Finding> {
  const { value, failure } = await session.first
  const stage = await failedStage(session)
  if (session.config.apiKey === undefined) {
    return {
      light: 'yellow',
      text: 'There is none. Over HTTP each request brings its own; stdio, which desktop clients start, does not work without it.',
      todo: 'Set VOICE_AGENT_API_KEY, unless this server is for HTTP clients with keys of their own.',
    }
  }
  if (stage !== undefined) return seeOther(stage)
  if (failure) return refused(failure, origin)
  return value ? accepted(value, origin) : seeOther('platform')
}

function accepted({ id, name, is_active, parent_account_id }: Account, origin: string): Finding {
  const kind = parent_account_id ? 'subaccount' : 'account'
  const text = `Valid, for the ${kind} ${name ? `${name} (${id})` : id}. It comes from ${origin}.`
  return is_active === false
    ? {
        light: 'yellow',
        text: `${text} That ${kind} is disabled.`,
        todo: 'Enable it on its parent account, or use the key of another account.',
      }
    : green(text)
}

function refused(failure: Failure, origin: string): Finding {
  const status = failure.kind === 'rejected' ? failure.status : 0
  const said = `${failureText(failure)}.`.replace(/\.{2,}$/, '.')
  if (status === 429) {
    return {
      light: 'yellow',
      text: `It is not known whether it is valid: ${said}`,
      todo: 'Wait a minute and try again.',
    }
  }
  if (status === 401) {
    return {
      light: 'red',
      text: `Not accepted. It comes from ${origin}: ${said}`,
      todo: 'Put a valid key there: copy it again from the platform. Each platform has keys of its own, so check VOICE_AGENT_BASE_URL as well.',
    }
  }
  return {
    light: 'red',
    text: `It is known, but has no access: ${said}`,
    todo:
      status === 402
        ? 'Put the account in credit with the platform.'
        : 'The account may be disabled, or the key limited. Look at it on the platform.',
  }
}

async function pinnedAccount(session: PlatformSession, account: string): Promise<Finding> {
  const first = await session.first
  const stage = await failedStage(session)
  if (stage !== undefined) return seeOther(stage)
  if (first.failure) return seeOther('api_key')
  if (first.value?.id === account) return green(`${account} (--account) is the key's own.`)
  const { failure } = await session.call(routes.agents.list, {
    params: { account_id: account },
    query: { limit: 1 },
  })
  return failure
    ? {
        light: 'red',
        text: `The key does not reach ${account} (--account): ${failureText(failure)}.`,
        todo: 'Correct VOICE_AGENT_ACCOUNT, or use a key of that account or of one above it.',
      }
    : green(`The key reaches ${account} (--account).`)
}

/** From here on times of calls and quiet hours are noticeably wrong, ms. */
const noticeableMs = 30_000
/** From here on what is signed for minutes is refused, ms. */
const wrongMs = 5 * 60_000

async function clock(session: PlatformSession): Promise<Finding> {
  const { reply, at } = await session.first
  const date = Date.parse(reply?.header('date') ?? '')
  // A kept reply has the time when it was made.
  const isKept = Number(reply?.header('age') ?? 0) > 0
  if (Number.isNaN(date) || isKept)
    return skipped('Not checked: no answer of the platform tells the time.')
  // Date has whole seconds: half of one is the error.
  const aheadMs = at - (date + 500)
  const size = Math.abs(aheadMs)
  if (size < noticeableMs) return green('The same as that of the platform.')
  const text = `This machine is ${duration(size)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the platform.`
  return {
    light: size < wrongMs ? 'yellow' : 'red',
    text: `${text} Quiet hours, limits per hour and the times of calls are wrong by that.`,
    todo: 'Set the clock, and let it follow a time server (NTP).',
  }
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 2) return `${Math.round(ms / 1000)} s`
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}
