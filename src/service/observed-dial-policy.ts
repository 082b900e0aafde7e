import type { Observer } from '../observe/observer.ts'
import type { DialPolicy } from '../policy/dial-policy.ts'

/**
 * A dial policy whose decisions are recorded. A call is checked before a person is asked, and allowed
 * only when it is about to be sent; most refusals are found by the check.
 */
export function observedDialPolicy(policy: DialPolicy, observer: Observer | undefined): DialPolicy {
  if (!observer) return policy
  return {
    ...policy,
    async check(request) {
      const decision = await policy.check(request)
      if (!decision.allowed) observer.dialDecided('refused', decision.rule)
      return decision
    },
    async reserve(request, call) {
      const decision = await policy.reserve(request, call)
      if (decision.allowed) observer.dialDecided('allowed', '')
      else observer.dialDecided('refused', decision.rule)
      return decision
    },
    async cancel(id) {
      observer.dialDecided('not_placed', '')
      await policy.cancel(id)
    },
  }
}
