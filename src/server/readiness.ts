import { routes } from '../contract/routes.ts'
import { resultOr } from '../platform/time-limit.ts'
import type { State } from '../state/state.ts'
import type { Platform } from './platform.ts'
import type { Reachability, Readiness } from './transports/http.ts'

/**
 * Time for which a readiness result is reused, ms, so that probes of several load balancers share
 * one platform request.
 */
const reuseMs = 2000

/**
 * Timeout of the platform and the state in a probe, ms. Below the 1 s default timeout of probes.
 */
const timeoutMs = 900

/**
 * Creates the readiness check. Every reply of the platform counts as reachable, including 401 and
 * 5xx: during an outage, this server's error messages help clients more than a load balancer
 * without servers.
 */
export function createReadiness(platform: Platform, state: State): () => Promise<Readiness> {
  let found: Promise<Readiness> | undefined
  return () => {
    found ??= findReadiness(platform, state).finally(() => {
      setTimeout(() => {
        found = undefined
      }, reuseMs).unref()
    })
    return found
  }
}

async function findReadiness(platform: Platform, state: State): Promise<Readiness> {
  const { method, path } = routes.accounts.current
  const [ofPlatform, ofState] = await Promise.all([
    reachable(platform.send({ method, target: path, headers: {}, timeLeftMs: timeoutMs })),
    resultOr(reachable(state.check()), () => 'unreachable' as const, { ms: timeoutMs }),
  ])
  return { platform: ofPlatform, state: ofState }
}

const reachable = (attempt: Promise<unknown>): Promise<Reachability> =>
  attempt.then(
    () => 'ok',
    () => 'unreachable',
  )
