import { tools } from '../../../tools/index.ts'
import type { Account } from '../../contract/account.ts'
import { openApiDocument } from '../../contract/openapi.ts'
import type { Route } from '../../contract/route.ts'
import { allRoutes, routes } from '../../contract/routes.ts'
import { type Failure, failureText } from '../../platform/failure.ts'
import { driftOf } from '../../platform/reply-drift.ts'
import { jsonIn } from '../../text/json.ts'
import {
  type Check,
  checkNamed,
  type Finding,
  green,
  red,
  seeOther,
  skipped,
  yellow,
} from './findings.ts'
import {
  type Difference,
  type DocumentedOperations,
  differences,
  operationsIn,
  worstFirst,
} from './openapi-differences.ts'
import { failedStage, type PlatformSession } from './platform-session.ts'

/** Checks of the API key, the account and the clock, from one reply of the API. */
export function firstReplyChecks(
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
    return yellow(
      'There is none. Over HTTP each request brings its own; stdio, which desktop clients start, does not work without it.',
      'Set VOICE_AGENT_API_KEY, unless this server is for HTTP clients with keys of their own.',
    )
  }
  if (stage !== undefined) return seeOther(stage)
  if (failure) return refused(failure, origin)
  return value ? accepted(value, origin) : seeOther('platform')
}

function accepted({ id, name, is_active, parent_account_id }: Account, origin: string): Finding {
  const kind = parent_account_id ? 'subaccount' : 'account'
  const text = `Valid, for the ${kind} ${name ? `${name} (${id})` : id}. It comes from ${origin}.`
  return is_active === false
    ? yellow(
        `${text} That ${kind} is disabled.`,
        'Enable it on its parent account, or use the key of another account.',
      )
    : green(text)
}

function refused(failure: Failure, origin: string): Finding {
  const status = failure.kind === 'rejected' ? failure.status : 0
  const said = `${failureText(failure)}.`
  if (status === 429) {
    return yellow(`It is not known whether it is valid: ${said}`, 'Wait a minute and try again.')
  }
  if (status === 401) {
    return red(
      `Not accepted. It comes from ${origin}: ${said}`,
      'Put a valid key there: copy it again from the platform. Each platform has keys of its own, so check VOICE_AGENT_BASE_URL as well.',
    )
  }
  return red(
    `It is known, but has no access: ${said}`,
    status === 402
      ? 'Put the account in credit with the platform.'
      : 'The account may be disabled, or the key limited. Look at it on the platform.',
  )
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
    ? red(
        `The key does not reach ${account} (--account): ${failureText(failure)}.`,
        'Correct VOICE_AGENT_ACCOUNT, or use a key of that account or of one above it.',
      )
    : green(`The key reaches ${account} (--account).`)
}

/** Minimum clock error that noticeably shifts call times and quiet hours, ms. */
const noticeableMs = 30_000
/** Minimum clock error with which short-lived signatures are refused, ms. */
const wrongMs = 5 * 60_000

async function clock(session: PlatformSession): Promise<Finding> {
  const { reply, at } = await session.first
  const date = Date.parse(reply?.header('date') ?? '')
  // A cached reply has the Date of an earlier request.
  const isKept = Number(reply?.header('age') ?? 0) > 0
  if (Number.isNaN(date) || isKept)
    return skipped('Not checked: no answer of the platform tells the time.')
  // Date has whole seconds, so half a second is the mean error.
  const aheadMs = at - (date + 500)
  const size = Math.abs(aheadMs)
  if (size < noticeableMs) return green('The same as that of the platform.')
  const text = `This machine is ${duration(size)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the platform.`
  return (size < wrongMs ? yellow : red)(
    `${text} Quiet hours, limits per hour and the times of calls are wrong by that.`,
    'Set the clock, and let it follow a time server (NTP).',
  )
}

function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (minutes < 2) return `${Math.round(ms / 1000)} s`
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}

/** Path of the platform's OpenAPI document [B]. */
const documentPath = '/v1/openapi.json'

/**
 * Differences between the platform's document and the contract, or the reason why they cannot be
 * compared.
 */
type Compared = { readonly differences: readonly Difference[] } | { readonly unread: string }

/**
 * Compares the platform's OpenAPI document and some of its replies with this program's contract.
 */
export const contractCheck = (session: PlatformSession): Check =>
  checkNamed('contract', async () => {
    const stage = await failedStage(session)
    if (stage !== undefined) return seeOther(stage)
    const ours = operationsIn(openApiDocument(allRoutes)) ?? new Map()
    const [document, replies] = await Promise.all([
      comparedDocument(ours, session),
      replyDifferences(session),
    ])
    return finding(document, replies, ours.size)
  })

async function comparedDocument(
  ours: DocumentedOperations,
  session: PlatformSession,
): Promise<Compared> {
  const { value, failure } = await session.get(documentPath)
  if (!value) return { unread: failure ? failureText(failure) : 'there is none' }
  if (value.status !== 200) return { unread: `the platform answers HTTP ${value.status}` }
  const theirs = operationsIn(jsonIn(value.body.replace(/^\uFEFF/, '')))
  if (!theirs) return { unread: 'it is not an OpenAPI document' }
  if (![...ours.keys()].some((key) => theirs.has(key)))
    return { unread: 'it describes another API than the one that answers' }
  return { differences: differences(ours, theirs, toolsOf) }
}

/** Operation id in the OpenAPI document. */
const operationIdOf = ({ id }: Pick<Route, 'id'>) => id.replace('.', '_')

/**
 * Tools that perform an operation, given its id in the OpenAPI document. Tools that only use the
 * operation for a check are not included.
 */
const toolsOf = (operationId: string | undefined): readonly string[] =>
  tools
    .filter(({ route }) => operationIdOf(route) === operationId)
    .filter(({ effect, route }) => effect !== 'reads' || route.effect === 'reads')
    .map(({ name }) => name)

/** Maximum items of a list whose fields are compared. */
const maxItems = 20

/**
 * Differences between the contract and the replies to some reads, without duplicates. Other checks
 * report failed reads.
 */
async function replyDifferences(session: PlatformSession): Promise<Difference[]> {
  const { accounts, agents, phoneNumbers, sipTrunks, calls, conversations, providers } = routes
  const { value: account } = await session.first
  if (!account) return []
  const params = { account_id: account.id }
  const query = { limit: maxItems }
  const ofAccount: Route[] = [
    ...[accounts.listSubaccounts, agents.list, phoneNumbers.list, sipTrunks.list],
    ...[calls.list, conversations.list, providers.models, providers.transcribers],
  ]
  const read = await Promise.all(
    ofAccount.map(async (route) => ({ route, ...(await session.call(route, { params, query })) })),
  )
  const all = [{ route: accounts.current, value: account, failure: undefined }, ...read]
  return all.flatMap(({ route, value, failure }): Difference[] => {
    const where = toolsOf(operationIdOf(route)).join(', ')
    if (failure?.kind === 'unreadable' && failure.reason === 'unexpected_shape') {
      const text = `${where}: replies are not as documented (${failure.detail ?? 'in no part'}), and cannot be used.`
      return [{ light: 'red', text }]
    }
    return driftOf(value).map(({ path, problem }) => ({
      light: 'yellow',
      text: `${where}: replies are not as documented: ${path}: ${problem}; results leave it out.`,
    }))
  })
}

const signs = { red: '!!', yellow: '!', green: '' } as const

function finding(document: Compared, replies: readonly Difference[], operations: number): Finding {
  const isRead = 'differences' in document
  const found = worstFirst([...replies, ...(isRead ? document.differences : [])])
  const details = found.map(({ light, text }) => `${signs[light].padEnd(3)}${text}`)
  const count = (light: Difference['light']) => found.filter((one) => one.light === light).length
  const [broken, changed] = [count('red'), count('yellow')]
  const unread = isRead ? '' : `${documentPath} cannot be compared: ${document.unread}.`
  if (broken + changed > 0) {
    const what = isRead
      ? `${documentPath}, or what the platform replies,`
      : 'What the platform replies'
    return (broken > 0 ? red : yellow)(
      `${unread ? `${unread} ` : ''}${what} differs in ${broken + changed} points from what this version expects (!! does not work, ! works otherwise).`,
      'Look for a newer version of voice-agent-mcp. Until then, leave the tools out that do not work (--exclude-tools).',
      details,
    )
  }
  if (unread)
    return yellow(
      unread,
      'Tools may work all the same. If one fails in an unexpected way, compare the API by hand.',
    )
  const text = `${documentPath} has all ${operations} operations as this version expects them.`
  return found.length === 0 ? green(text) : green(`${text} It has more besides:`, details)
}
