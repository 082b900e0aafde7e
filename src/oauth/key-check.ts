import { holdsLocalToken, holdsOauthToken, isApiKey } from '../session/credential.ts'
import { Allowances } from '../transports/rate.ts'
import type { KeptKey } from './kept-keys.ts'
import type { KeyProblem } from './pages/models.ts'

/** What the platform says of a key. */
export type KeyFinding =
  | { readonly ok: true; readonly account: KeptKey['account'] }
  | { readonly ok: false; readonly reason: 'wrong' | 'no_access' | 'unreachable' }

/** Asks the platform whose a key is. Never rejects. */
export type AskPlatform = (apiKey: string, network: string) => Promise<KeyFinding>

/** Where a key comes from that a person tries. */
interface Attempt {
  readonly network: string
  readonly interactionId: string
}

/** Tries a key that a person has typed. */
export type TryKey = (
  text: string,
  attempt: Attempt,
) => Promise<{ readonly key: KeptKey } | { readonly problem: KeyProblem }>

/** Keys that may be tried a minute, by process: people mistype, programs that guess try thousands. */
const mostTries = { perInteraction: 10, perNetwork: 60, inAll: 600 }

export function createKeyCheck(ask: AskPlatform): TryKey {
  const bounds = [
    [new Allowances(mostTries.perInteraction), ({ interactionId }: Attempt) => interactionId],
    [new Allowances(mostTries.perNetwork), ({ network }: Attempt) => network],
    [new Allowances(mostTries.inAll), () => ''],
  ] as const
  /** Counts a try; the time until the next one is allowed, ms, if it is not. */
  const take = (attempt: Attempt): number => {
    const now = performance.now()
    const waits = bounds.map(([allowances, nameOf]) => allowances.waitMs(nameOf(attempt), now))
    const longest = Math.max(...waits)
    if (longest > 0) return longest
    for (const [allowances, nameOf] of bounds) allowances.spend(nameOf(attempt), 1, now)
    return 0
  }
  return async (text, attempt) => {
    if (text === '') return { problem: { kind: 'missing' } }
    // A token of this server must not be sent to the platform.
    if (!isApiKey(text) || holdsLocalToken(text) || holdsOauthToken(text))
      return { problem: { kind: 'malformed' } }
    const waitMs = take(attempt)
    if (waitMs > 0)
      return { problem: { kind: 'too_many', retryAfterSeconds: Math.ceil(waitMs / 1000) } }
    const finding = await ask(text, attempt.network)
    return finding.ok
      ? { key: { apiKey: text, account: finding.account } }
      : { problem: { kind: finding.reason } }
  }
}
