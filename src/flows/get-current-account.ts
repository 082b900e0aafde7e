import { Account } from '../contract/account.ts'
import type { routes } from '../contract/routes.ts'
import type { Steps } from '../mcp/call/tool.ts'
import { accountInUse } from '../session/account.ts'

/** Reads the account that the tools act on: the key's own, or the one that the operator has pinned. */
export const getCurrentAccountSteps: Steps<typeof routes.accounts.current> = {
  schema: Account,
  run: async ({ session, signal }) => ({ structured: await accountInUse(session, signal) }),
}
