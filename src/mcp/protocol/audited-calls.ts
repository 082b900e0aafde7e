import type { Audit } from '../../audit/audit.ts'
import type { AuditedCall } from '../../audit/call-record.ts'
import { knownOwnAccountId } from '../../session/account.ts'
import type { Session } from '../../session/session.ts'
import type { ConfirmedCall } from '../call/confirmation.ts'
import type { Tool } from '../call/tool.ts'
import { outcomeOf } from './call-outcome.ts'
import { targetsOf } from './call-targets.ts'
import type { RequestSender } from './request-sender.ts'
import type { RunTool, ToolClient } from './tool-calls.ts'

/** Runs tools, and records those that change something in the audit trail. */
export const auditedCalls =
  (runTool: RunTool, audit: Audit): RunTool =>
  (tool, args, request) => {
    if (tool.effect === 'reads') return runTool(tool, args, request)
    const client = { ...request.client, confirmOf: auditedConfirmation(request.client, audit) }
    return audit.toolCall(
      auditedCall(tool, args, request),
      () => runTool(tool, args, { ...request, client }),
      (ended) => ({
        word: outcomeOf(ended),
        targets: 'result' in ended ? targetsOf(ended.result) : [],
      }),
    )
  }

/** A call of a tool, as the audit trail wants it. */
export function auditedCall(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  { session, sender }: { readonly session: Session; readonly sender: () => RequestSender },
): AuditedCall {
  const { transport, client, userAgent } = sender()
  const { owner, platform, clientNetwork, oauthClient, redact } = session
  return {
    tool: tool.name,
    arguments: args,
    argumentNames: Object.keys(tool.input.shape),
    caller: {
      ...{ owner, platform, transport, redact },
      accountId: () => accountOf(args, session),
      network: clientNetwork,
      oauthClient,
      client: client
        ? { name: client.name, version: client.version }
        : { ...(userAgent !== undefined && { user_agent: userAgent }) },
    },
  }
}

/** The account that a call is for, where it is known before anything is sent. */
function accountOf({ account_id: named }: Readonly<Record<string, unknown>>, session: Session) {
  const { pinnedAccount, cache } = session
  if (pinnedAccount !== undefined && pinnedAccount !== 'me') return pinnedAccount
  const isOwn = pinnedAccount === 'me' || named === undefined || named === null || named === 'me'
  return isOwn ? knownOwnAccountId(cache) : undefined
}

const auditedConfirmation =
  ({ confirmOf }: ToolClient, audit: Audit): ToolClient['confirmOf'] =>
  async (call: Omit<ConfirmedCall, 'canAsk' | 'earlier'>) => {
    const confirm = await confirmOf(call)
    return async (what) => {
      audit.confirmed('not_given')
      const agreement = await confirm(what)
      audit.confirmed(agreement.by)
      return agreement
    }
  }
