import { ignoreApiError } from '../../api/failure.ts'
import { Agent } from '../../contract/agent.ts'
import type { RouteRequest } from '../../contract/route.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { accountReader } from '../checks/account-reader.ts'
import { catalogParts, checkCatalogPart } from '../checks/catalog-check.ts'
import type { Fields } from '../field-changes.ts'
import { newValueChecks } from './new-value-checks.ts'

interface Copying extends Pick<RouteRequest, 'params'> {
  readonly original: Agent
  readonly body: Fields
  readonly changes: Fields
  /** Fields of the original that a new agent does not take. */
  readonly left: readonly string[]
  readonly isOtherAccount: boolean
}

/**
 * Checks what is new in a copy, and for another account also what is copied: a voice or a model may
 * belong to one account. Returns warnings; throws Refused for a new value that is a mistake.
 */
export async function copyWarnings(
  { original, body, changes, left, params, isOtherAccount }: Copying,
  { session, signal }: Pick<Run, 'session' | 'signal'>,
): Promise<string[]> {
  const run = { request: { params, query: {} }, session, signal }
  const checks = newValueChecks(run)
  const [catalogs, greeting, copied] = await Promise.all([
    checks.catalogValues(body, original),
    'initial_message' in changes ? checks.greeting(body.initial_message) : [],
    isOtherAccount ? missingThere(body, changes, run) : [],
  ])
  return [
    ...catalogs,
    ...greeting,
    ...copied,
    ...(left.length > 0
      ? [`not copied, because a new agent does not take it: ${left.join(', ')}`]
      : []),
    ...(original.is_archived ? ['the original is archived; the copy is active'] : []),
  ]
}

/** Copied values that the catalogs of the other account do not have. */
async function missingThere(
  body: Fields,
  changes: Fields,
  run: Pick<Run, 'request' | 'session' | 'signal'>,
): Promise<string[]> {
  const reader = accountReader(run)
  const agent = Agent.parse({ ...body, id: 'copy' })
  const copied = catalogParts.filter((part) => !(part in changes))
  const found = await Promise.all(
    copied.map((part) => checkCatalogPart(part, agent, reader).catch(ignoreApiError)),
  )
  return found.flatMap((check) => (check?.fix ? `${check.check}: ${check.found}` : []))
}
