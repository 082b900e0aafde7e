import { compileCache } from './compile-cache.ts'
import { emptyHome } from './empty-home.ts'
import { foreignText } from './foreign-text.ts'
import { hostileTemplates } from './hostile-templates.ts'
import { keyEcho } from './key-echo.ts'
import { madeUpKeys } from './made-up-keys.ts'
import { millionItems } from './million-items.ts'
import { nearlyTheKey } from './nearly-the-key.ts'
import { nestedJson } from './nested-json.ts'
import { noDescriptors } from './no-descriptors.ts'
import { nodeOptions } from './node-options.ts'
import { clientDocuments, oauthPaths } from './oauth-doors.ts'
import { longAssertions, oneGrant } from './oauth-floods.ts'
import { oneKey } from './one-key.ts'
import { ownKey } from './own-key.ts'
import { pinnedAccount } from './pinned-account.ts'
import { privateFiles } from './private-files.ts'
import { proxy } from './proxy.ts'
import { sandboxRest } from './sandbox-rest.ts'
import type { Scenario } from './scenario.ts'
import { steadyMemory } from './steady-memory.ts'
import { unfinishedBodies } from './unfinished-bodies.ts'
import { unreadAnswers } from './unread-answers.ts'
import { unreadStdio } from './unread-stdio.ts'
import { unwritableLog } from './unwritable-log.ts'

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
