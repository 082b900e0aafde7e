import { isObject } from '../../json/is-object.ts'
import { type Credential, type Scope, scopes } from '../../session/credential.ts'
import type { GetHeader } from './envelope.ts'
import type { ExposureOfRequest } from './request-exposure.ts'
import { scopeOf } from './scoped-exposure.ts'

/**
 * The scopes that a message needs where its access token does not have them; `undefined` where it has.
 * Changing and calling include reading: what is changed or called has to be found first.
 */
export type MissingScopes = (
  message: unknown,
  header: GetHeader,
  credential: Credential | undefined,
) => readonly Scope[] | undefined

export const createMissingScopes =
  (exposureFor: ExposureOfRequest): MissingScopes =>
  (message, header, credential) => {
    const allowed = credential?.scopes
    if (!allowed) return undefined
    const exposed = exposureFor(header)
    if (!exposed.ok) return undefined
    const names = new Set((Array.isArray(message) ? message : [message]).map(calledTool))
    const refused = exposed.exposure.tools.filter(
      (tool) => names.has(tool.name) && !allowed.includes(scopeOf(tool)),
    )
    if (refused.length === 0) return undefined
    const needed = new Set<Scope>(['read', ...refused.map(scopeOf)])
    return scopes.filter((scope) => needed.has(scope))
  }

/** Not parsed by a schema: this is done for every request, and the message is parsed later. */
const calledTool = (message: unknown): unknown =>
  isObject(message) && message.method === 'tools/call' && isObject(message.params)
    ? message.params.name
    : undefined
