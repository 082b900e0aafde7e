import {
  createSubaccount,
  getCurrentAccount,
  getSubaccount,
  listSubaccounts,
  updateSubaccount,
} from './accounts.ts'
import { archiveAgent } from './agents/archive-agent.ts'
import { copyAgent } from './agents/copy-agent.ts'
import { updateAgent } from './agents/update-agent.ts'
import { createAgent, getAgent, listAgents } from './agents.ts'
import { checkCallReadiness } from './calls/check-call-readiness.ts'
import { placeCall } from './calls/place-call.ts'
import { placeCalls } from './calls/place-calls.ts'
import { waitForCall } from './calls/wait-for-call.ts'
import { getCall, listCalls } from './calls.ts'
import { getConversation, listConversations } from './conversations.ts'
import { updatePhoneNumber } from './phone-numbers/update-phone-number.ts'
import {
  createPhoneNumber,
  deletePhoneNumber,
  getPhoneNumber,
  listPhoneNumbers,
} from './phone-numbers.ts'
import { listModels, listTranscribers, listVoices } from './providers.ts'
import { updateSipTrunk } from './sip-trunks/update-sip-trunk.ts'
import { createSipTrunk, deleteSipTrunk, getSipTrunk, listSipTrunks } from './sip-trunks.ts'
import { validateAgentTemplate } from './templates/validate-agent-template.ts'
import { getUsage } from './usage.ts'

/** Every tool, in the order of `tools/list`. */
export const tools = [
  getCurrentAccount,
  listSubaccounts,
  createSubaccount,
  getSubaccount,
  updateSubaccount,

  listAgents,
  createAgent,
  copyAgent,
  getAgent,
  updateAgent,
  archiveAgent,
  validateAgentTemplate,

  listModels,
  listTranscribers,
  listVoices,

  listPhoneNumbers,
  createPhoneNumber,
  getPhoneNumber,
  updatePhoneNumber,
  deletePhoneNumber,

  listSipTrunks,
  createSipTrunk,
  getSipTrunk,
  updateSipTrunk,
  deleteSipTrunk,

  checkCallReadiness,
  placeCall,
  placeCalls,
  waitForCall,
  listCalls,
  getCall,
  listConversations,
  getConversation,
  getUsage,
]
