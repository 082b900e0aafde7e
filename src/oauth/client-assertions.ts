import { hash } from 'node:crypto'
import { type Configuration, errors } from 'oidc-provider'
import * as z from 'zod'
import { networkOf, RateLimits, spend } from '../server/transports/quotas.ts'
import type { NewRecord, RecordBounds, Records } from '../state/records.ts'
import { StateError } from '../state/state-access.ts'
import { tooMany } from './endpoints.ts'

/*
 * Client assertions (private_key_jwt, RFC 7523 §3). Each is single-use, so its use is recorded
 * until it has expired. This server limits their validity and number, because a client could choose
 * any.
 */

/** Maximum validity of an assertion, s. */
const validSeconds = 5 * 60

/** Tolerance for a client's clock that is ahead, s. */
const clockDoubtSeconds = 30

/**
 * Client assertions per minute and server process. All users of a hosted assistant share one
 * client, so the limit per client is high.
 */
const maxAssertions = { perClient: 300, perNetwork: 600 }

/**
 * Retention of a used assertion, ms: its validity, and a margin for a server whose clock is a
 * minute late.
 */
const usedForMs = (validSeconds + 120) * 1000
/** `perOwner`: more than one server accepts from a client in `usedForMs`. */
const usedAssertionBounds: RecordBounds = { inAll: 200_000, perOwner: 2_500 }

/**
 * Marks an assertion as used. Throws InvalidClientAuth if it was used before, also by a concurrent
 * request, and StateError.
 */
export async function useAssertion(
  records: Records,
  record: Pick<NewRecord, 'kind' | 'id' | 'value'>,
  client: string | undefined,
): Promise<void> {
  const owner = `client ${client}`
  const used = await records.add({ ...record, owner, forMs: usedForMs }, usedAssertionBounds)
  if (used === 'exists') throw new errors.InvalidClientAuth('the assertion was used before')
  if (used === 'full') throw new StateError('Too many client assertions are remembered.')
}

const Claims = z.object({ exp: z.number(), iat: z.number().optional() })

/**
 * Checks the claims and the rate of assertions. Called after the signature check, so nobody else
 * can use up a client's quota. An assertion is valid until the earlier of `exp` and five minutes
 * after `iat`; `iat` may be absent only if `exp` is within five minutes.
 */
export function createAssertionCheck(): NonNullable<
  Configuration['assertJwtClientAuthClaimsAndHeader']
> {
  const perClient = new RateLimits(maxAssertions.perClient)
  const perNetwork = new RateLimits(maxAssertions.perNetwork)
  return (context, given, _, { clientId }) => {
    const { exp, iat } = Claims.parse(given)
    const now = Date.now() / 1000
    if (iat === undefined && exp > now + validSeconds + clockDoubtSeconds)
      throw new errors.InvalidClientAuth(
        'iat is required in an assertion that expires after more than 5 minutes',
      )
    if (iat !== undefined && iat > now + clockDoubtSeconds)
      throw new errors.InvalidClientAuth('iat of the assertion is in the future')
    if (iat !== undefined && now >= iat + validSeconds)
      throw new errors.InvalidClientAuth('the assertion was made more than 5 minutes ago')
    const waitMs = spend([perClient, hash('sha256', clientId)], [perNetwork, networkOf(context.ip)])
    if (waitMs > 0) throw tooMany('too many client assertions', waitMs)
  }
}
