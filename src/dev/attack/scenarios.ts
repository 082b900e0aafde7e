import { proxy } from './proxy.ts'
import type { Scenario } from './scenario.ts'

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [proxy]
