import { accountExamples } from './accounts.ts'
import { agentExamples } from './agents.ts'
import { callExamples } from './calls.ts'
import { errorExamples } from './errors.ts'
import type { Examples } from './ids.ts'
import { phoneNumberExamples } from './phone-numbers.ts'
import { providerExamples } from './providers.ts'
import { sipTrunkExamples } from './sip-trunks.ts'
import { templateExamples } from './templates.ts'
import { usageExamples } from './usage.ts'

/**
 * Every example of the OpenAPI document, by name: `<route>.body…` is a request, `<route>.reply…` or
 * else `<noun>.page` and `<noun>.one` a success, `error.<status>…` a failure.
 */
export const examples: Examples = {
  ...accountExamples,
  ...agentExamples,
  ...templateExamples,
  ...providerExamples,
  ...phoneNumberExamples,
  ...sipTrunkExamples,
  ...usageExamples,
  ...callExamples,
  ...errorExamples,
}
