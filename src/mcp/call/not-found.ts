import { referencesOf } from '../hints/missing-references.ts'
import type { FailedCall } from './advice-row.ts'

/** The tools that list what arguments refer to. */
export const listTools: Readonly<Record<string, string>> = {
  account_id: 'list_subaccounts',
  agent_id: 'list_agents',
  call_id: 'list_calls',
  inbound_agent_id: 'list_agents',
  phone_number_id: 'list_phone_numbers',
  sip_trunk_id: 'list_sip_trunks',
  subaccount_id: 'list_subaccounts',
}

/** What to check after a 404: what is missing, or else every reference among the tool's arguments. */
export function notFoundHint({ tool, session, account, isExposed, hints }: FailedCall): string {
  const { path, body, params } = tool.route
  const missing = Object.keys(hints).filter((name) => name in listTools)
  if (missing.includes('account_id') && session.pinnedAccount !== undefined) {
    return `The platform does not know ${account}, which this server was started with (--account): the operator has to correct it.`
  }
  const isOther = 'account_id' in params.shape && session.pinnedAccount === undefined
  const names = missing.length > 0 ? missing : referencesOf(path, body?.shape)
  if (names.length > 0) {
    const checks = names.map((name) => withListTool(name, isExposed)).join(', ')
    return `Check ${checks}. It was searched in ${account}.`
  }
  return isOther && account.startsWith('account ')
    ? `Check ${withListTool('account_id', isExposed)}; if it is right, check VOICE_AGENT_BASE_URL.`
    : 'The platform has nothing at this address: check VOICE_AGENT_BASE_URL.'
}

/** An argument, and the tool that lists what it can refer to, where the caller has that. */
function withListTool(name: string, isExposed: FailedCall['isExposed']): string {
  const tool = listTools[name]
  return tool !== undefined && isExposed(tool) ? `${name} with ${tool}` : name
}
