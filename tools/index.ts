import * as accounts from './accounts.ts'
import * as agents from './agents.ts'
import * as calls from './calls.ts'
import * as conversations from './conversations.ts'
import * as phoneNumbers from './phone-numbers.ts'
import * as providers from './providers.ts'
import * as sipTrunks from './sip-trunks.ts'
import * as templates from './templates.ts'
import * as usage from './usage.ts'

/** Every tool, in the order `tools/list` shows them. */
export const tools = [
  accounts.getCurrentAccount,
  accounts.listSubaccounts,
  accounts.createSubaccount,
  accounts.getSubaccount,
  accounts.updateSubaccount,

  agents.listAgents,
  agents.createAgent,
  agents.copyAgent,
  agents.getAgent,
  agents.updateAgent,
  agents.archiveAgent,
  templates.validateAgentTemplate,

  providers.listModels,
  providers.listTranscribers,
  providers.listVoices,

  phoneNumbers.listPhoneNumbers,
  phoneNumbers.createPhoneNumber,
  phoneNumbers.getPhoneNumber,
  phoneNumbers.updatePhoneNumber,
  phoneNumbers.deletePhoneNumber,

  sipTrunks.listSipTrunks,
  sipTrunks.createSipTrunk,
  sipTrunks.getSipTrunk,
  sipTrunks.updateSipTrunk,
  sipTrunks.deleteSipTrunk,

  calls.checkCallReadiness,
  calls.placeCall,
  calls.placeCalls,
  calls.waitForCall,
  calls.listCalls,
  calls.getCall,
  conversations.listConversations,
  conversations.getConversation,
  usage.getUsage,
]
