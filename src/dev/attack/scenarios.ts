import { millionItems } from './million-items.ts'
import { noDescriptors } from './no-descriptors.ts'
import { ownKey } from './own-key.ts'
import { proxy } from './proxy.ts'
import { sandboxRest } from './sandbox-rest.ts'
import type { Scenario } from './scenario.ts'
import { unwritableLog } from './unwritable-log.ts'

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  proxy,
  noDescriptors,
  unwritableLog,
  millionItems,
  sandboxRest,
  ownKey,
]
