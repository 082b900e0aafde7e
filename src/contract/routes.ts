import { accountRoutes } from './account.ts'
import { agentRoutes } from './agent.ts'
import { callRoutes } from './call.ts'
import { conversationRoutes } from './conversation.ts'
import { phoneNumberRoutes } from './phone-number.ts'
import { providerRoutes } from './provider.ts'
import type { Route } from './route.ts'
import { sipTrunkRoutes } from './sip-trunk.ts'
import { templateRoutes } from './template.ts'
import { usageRoutes } from './usage.ts'

/** Every operation of the platform's API, by noun. */
export const routes = {
  accounts: accountRoutes,
  agents: agentRoutes,
  templates: templateRoutes,
  providers: providerRoutes,
  phoneNumbers: phoneNumberRoutes,
  sipTrunks: sipTrunkRoutes,
  usage: usageRoutes,
  conversations: conversationRoutes,
  calls: callRoutes,
}

/** All routes as one list, in the order of the contract. */
export const allRoutes: readonly Route[] = Object.values(routes).flatMap((noun) =>
  Object.values<Route>(noun),
)
