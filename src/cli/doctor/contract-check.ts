import { tools } from '../../../tools/index.ts'
import { openApiDocument } from '../../contract/openapi.ts'
import type { Route } from '../../contract/route.ts'
import { allRoutes, routes } from '../../contract/routes.ts'
import { driftOf } from '../../platform/drift.ts'
import { failureText } from '../../platform/failure.ts'
import { type Check, checkNamed, type Finding, green, seeOther } from './check.ts'
import {
  type Difference,
  type DocumentedOperations,
  differences,
  operationsIn,
  worstFirst,
} from './contract-differences.ts'
import { failedStage, type PlatformSession } from './platform-session.ts'

/** Where the platform describes its API [B]. */
const documentPath = '/v1/openapi.json'

/** What is known of the document: what differs, or why it cannot be compared. */
type Compared = { readonly differences: readonly Difference[] } | { readonly unread: string }

/**
 * The platform's own description of its API, and some of its replies, compared with the contract that
 * this program speaks.
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
  const theirs = operationsIn(parsed(value.body))
  if (!theirs) return { unread: 'it is not an OpenAPI document' }
  if (![...ours.keys()].some((key) => theirs.has(key)))
    return { unread: 'it describes another API than the one that answers' }
  return { differences: differences(ours, theirs, toolsOf) }
}

/** As the OpenAPI document gives it. */
const operationIdOf = ({ id }: Pick<Route, 'id'>) => id.replace('.', '_')

/**
 * The tools that carry out an operation, by its id in the OpenAPI document. A tool that only checks
 * what another one would do is not one of them.
 */
const toolsOf = (operationId: string | undefined): readonly string[] =>
  tools
    .filter(({ route }) => operationIdOf(route) === operationId)
    .filter(({ effect, route }) => effect !== 'reads' || route.effect === 'reads')
    .map(({ name }) => name)

/** Most items of a list that are read to compare them. */
const mostItems = 20

/** What differs in replies to some reads: each part once. What cannot be read at all is another check's. */
async function replyDifferences(session: PlatformSession): Promise<Difference[]> {
  const { accounts, agents, phoneNumbers, sipTrunks, calls, conversations, providers } = routes
  const { value: account } = await session.first
  if (!account) return []
  const params = { account_id: account.id }
  const query = { limit: mostItems }
  const ofAccount: Route[] = [accounts.listSubaccounts, agents.list, phoneNumbers.list]
  ofAccount.push(sipTrunks.list, calls.list, conversations.list)
  ofAccount.push(providers.models, providers.transcribers)
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
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
    return {
      light: broken > 0 ? 'red' : 'yellow',
      text: `${unread ? `${unread} ` : ''}${what} differs in ${broken + changed} points from what this version expects (!! does not work, ! works otherwise).`,
      details,
      todo: 'Look for a newer version of voice-agent-mcp. Until then, leave the tools out that do not work (--exclude-tools).',
    }
  }
  if (unread)
    return {
      light: 'yellow',
      text: unread,
      todo: 'Tools may work all the same. If one fails in an unexpected way, compare the API by hand.',
    }
  const text = `${documentPath} has all ${operations} operations as this version expects them.`
  return found.length === 0 ? green(text) : green(`${text} It has more besides:`, details)
}
