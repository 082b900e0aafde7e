import { setTimeout as sleep } from 'node:timers/promises'
import type { Send } from '../api/send.ts'
import { routes } from '../contract/routes.ts'
import type { State } from '../state/state.ts'
import type { Reachability, Readiness } from '../transports/http-probes.ts'

/** How long a finding holds, ms: probes of several balancers together ask the platform once. */
const keptMs = 2000

/** Longest that the platform and the state may take to answer a probe, ms: less than probes wait by default. */
const longestMs = 900

/**
 * Whether the platform and the state can be used now. Any answer of the platform counts, also that it
 * wants a key, and that it fails: while it fails, this server explains that better than a balancer
 * without servers.
 */
export function createReadiness({
  send,
  state,
}: {
  readonly send: Send
  readonly state: Pick<State, 'check'>
}): () => Promise<Readiness> {
  let found: Promise<Readiness> | undefined
  return () => {
    found ??= find({ send, state }).finally(() => {
      setTimeout(() => {
        found = undefined
      }, keptMs).unref()
    })
    return found
  }
}

async function find({ send, state }: Parameters<typeof createReadiness>[0]): Promise<Readiness> {
  const { method, path } = routes.accounts.current
  const [platform, stateFound] = await Promise.all([
    reachable(send({ method, target: path, headers: {}, timeLeftMs: longestMs })),
    reachable(Promise.race([state.check(), tooLate()])),
  ])
  return { platform, state: stateFound }
}

const tooLate = () =>
  sleep(longestMs, undefined, { ref: false }).then(() => Promise.reject(new Error('no answer')))

const reachable = (attempt: Promise<unknown>): Promise<Reachability> =>
  attempt.then(
    () => 'ok',
    () => 'unreachable',
  )
