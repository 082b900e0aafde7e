import { createHash } from 'node:crypto'
import type { Call, PlacedCall } from '../contract/call.ts'
import type { RouteRequest } from '../contract/route.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import type { CallIdentity, CallOwner } from '../state/journal.ts'
import { canonicalId } from '../text/canonical-id.ts'
import { ExternalIdConflict } from './placement.ts'

interface IdentityOptions {
  readonly callOwner: CallOwner
  readonly sameForMs?: number | undefined
}

/** Which call a request asks for: requests with the same identity ask for the same call. */
export function identityOf(
  { body }: Pick<RouteRequest, 'body'>,
  { callOwner: { owner, formerOwners }, sameForMs }: IdentityOptions,
): CallIdentity {
  const { external_id, ...content } = normalised(body ?? {})
  const externalId = typeof external_id === 'string' ? external_id : undefined
  return { owner, formerOwners, content: hash(canonicalJson(content)), externalId, sameForMs }
}

/** One spelling for equal requests: UUIDs in lower case, empty objects left out. */
function normalised(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isEmpty = (value: unknown) =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0
  const given = Object.entries(body).filter(([, value]) => value !== undefined && !isEmpty(value))
  const { agent_id, ...rest } = Object.fromEntries(given)
  return { ...rest, agent_id: typeof agent_id === 'string' ? canonicalId(agent_id) : agent_id }
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64url')

/** The fields of a call that lists show: where one differs, it is another call. */
const shownFields = ['type', 'agent_id', 'from_number', 'to_number'] as const

/** Throws ExternalIdConflict where a call with the external id of a request is another call. */
export function refuseOtherCall(call: PlacedCall | Call, { body }: RouteRequest): void {
  const text = (value: unknown) => (typeof value === 'string' ? canonicalId(value) : undefined)
  const isOther = shownFields.some((name) => {
    const [requested, shown] = [text(body?.[name]), text(call[name])]
    return requested !== undefined && shown !== undefined && requested !== shown
  })
  if (isOther) throw new ExternalIdConflict()
}
