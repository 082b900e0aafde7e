import { McpServer, type McpServerFactory } from '@modelcontextprotocol/server'
import { capabilitiesOf } from '../../src/mcp/server-info.ts'
import {
  registerAsking2025,
  registerLogging2025,
  registerSubscriptions2025,
} from './fixture-2025.ts'
import { registerAsking, stateCodec } from './fixture-asking.ts'
import { registerPrompts, registerResources } from './fixture-content.ts'
import { refuseJobsWithoutTasks, registerJobTools } from './fixture-jobs.ts'
import { registerTaskMethods, registerTaskTools } from './fixture-tasks.ts'
import { registerTools } from './fixture-tools.ts'

/** The lists never change while this runs. */
const never = { listChanged: false }

const hint = { ttlMs: 1000, cacheScope: 'private' } as const

/**
 * What the official conformance suite wants of a server: its tools, resources and prompts, with the
 * capabilities that they need.
 */
export const factory: McpServerFactory = ({ era, requestInfo }) => {
  const isModern = era === 'modern'
  // The stack's HTTP of the 2025 revisions is stateless: only a connection can be subscribed.
  const isConnection2025 = !isModern && requestInfo === undefined
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        resources: { ...never, ...(isConnection2025 && { subscribe: true }) },
        prompts: never,
        completions: {},
        ...(!isModern && { logging: {} }),
        ...(isModern && { extensions: capabilitiesOf.modern.extensions }),
      },
      requestState: { verify: stateCodec.verify },
      cacheHints: {
        'tools/list': hint,
        'prompts/list': hint,
        'resources/list': hint,
        'resources/templates/list': hint,
        'resources/read': hint,
        'server/discover': hint,
      },
    },
  )
  // Not with the others: McpServer would set its handlers at once.
  server.server.registerCapabilities({ tools: never })
  refuseJobsWithoutTasks(server)
  registerTools(server)
  registerAsking(server)
  registerResources(server)
  registerPrompts(server)
  registerTaskTools(server)
  registerJobTools(server)
  if (isModern) registerTaskMethods(server)
  else {
    registerAsking2025(server)
    registerLogging2025(server)
  }
  if (isConnection2025) registerSubscriptions2025(server)
  return server
}
