import type { Scenario } from './attack.ts'
import { noDescriptors, oneKey, unfinishedBodies, unreadAnswers } from './connections.ts'
import {
  compileCache,
  emptyHome,
  nodeOptions,
  privateFiles,
  unwritableLog,
} from './files-and-environment.ts'
import { keyEcho, madeUpKeys, nearlyTheKey, ownKey } from './keys.ts'
import { nestedJson, steadyMemory, unreadStdio } from './messages.ts'
import { clientDocuments, longAssertions, oauthPaths, oneGrant } from './oauth.ts'
import { foreignText, millionItems, pinnedAccount, proxy } from './replies.ts'
import { hostileTemplates, sandboxRest } from './sandbox-attacks.ts'

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  proxy,
  unreadAnswers,
  unfinishedBodies,
  unreadStdio,
  oneKey,
  madeUpKeys,
  nearlyTheKey,
  noDescriptors,
  unwritableLog,
  compileCache,
  millionItems,
  hostileTemplates,
  sandboxRest,
  ownKey,
  oauthPaths,
  clientDocuments,
  pinnedAccount,
  oneGrant,
  longAssertions,
  foreignText,
  keyEcho,
  nestedJson,
  privateFiles,
  emptyHome,
  nodeOptions,
  steadyMemory,
]
