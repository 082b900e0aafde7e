import { AgentCreate } from '../../../contract/agent.ts'
import { documentedDefaults } from '../../../contract/field.ts'

/** Defaults of the platform for a new agent. The build replaces this module by its value. */
export const agentDefaults: Readonly<Record<string, unknown>> = documentedDefaults(AgentCreate)
