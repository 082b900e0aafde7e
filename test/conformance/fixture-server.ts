import { McpServer, type McpServerFactory } from '@modelcontextprotocol/server'
import { capabilitiesOf } from '../../src/mcp/protocol/server-info.ts'
import { startHttp } from '../../src/transports/http.ts'
import { registerAsking, stateCodec } from './fixture-asking.ts'
import { registerPrompts, registerResources } from './fixture-content.ts'
import { refuseJobsWithoutTasks, registerJobTools } from './fixture-jobs.ts'
import { registerTaskMethods, registerTaskTools } from './fixture-tasks.ts'
import { registerTools } from './fixture-tools.ts'

/*
 * What the official conformance suite wants of a server, behind this server's own HTTP: its checks
 * of sources, keys, methods and messages, and its streams. Only capabilities that the real server
 * declares are here, so whatever needs another one is not: logging, and asking the client in the
 * 2025 revisions, whose HTTP is stateless here.
 *
 * node test/conformance/fixture-server.ts [PORT]
 */

/** The lists never change while this runs. */
const never = { listChanged: false }

const hint = { ttlMs: 1000, cacheScope: 'private' } as const

const factory: McpServerFactory = ({ era }) => {
  const isModern = era === 'modern'
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        resources: never,
        prompts: never,
        completions: {},
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
  return server
}

const unlimited = { inAll: 0, perKey: 0, perAddress: 0 }

const server = await startHttp(
  { factory, httpFastPath: () => undefined, waitsIn: () => 0 },
  {
    host: '127.0.0.1',
    port: Number(process.argv[2] ?? 0),
    isLoopback: true,
    allowedHosts: [],
    allowedOrigins: [],
    ownKey: { usedBy: 'all' },
    refusalOf: () => undefined,
    drainMs: 1000,
    readiness: async () => ({ platform: 'ok', state: 'ok' }),
    limits: {
      requests: unlimited,
      rate: unlimited,
      waits: unlimited,
      streams: unlimited,
      watchedPerAddress: 0,
      clientMs: 30_000,
    },
    faultOfKey: async () => undefined,
    watch: () => () => undefined,
    onError: (error) => process.stderr.write(`${error.message}\n`),
  },
)
process.stdout.write(`${server.url}/mcp\n`)
