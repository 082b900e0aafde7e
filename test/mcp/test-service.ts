import packageJson from '../../package.json' with { type: 'json' }
import { everyTool } from '../../src/mcp/exposure.ts'
import { type Client, createClient } from '../../src/platform/client.ts'
import { openPlatform } from '../../src/server/platform.ts'
import { createMcpService } from '../../src/server/service.ts'
import { createToolCalling } from '../../src/server/tool-service.ts'
import { createLocalBroadcast } from '../../src/state/broadcast.ts'
import { sealingKeysFrom } from '../../src/state/sealing.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'
import { tools } from '../../tools/index.ts'
import { sessionOf } from '../harness/session.ts'

export const { version } = packageJson

export const exposure = everyTool(tools)

/** An MCP service with every tool, in which all clients share one session. */
export function createTestService(client: Client, onBug: (error: unknown) => void) {
  const session = sessionOf(client)
  const confirm = 'auto'
  const records = createSqliteRecords(':memory:', '--state-dir')
  const broadcast = createLocalBroadcast()
  const sealingKeys = sealingKeysFrom(async () => ['a secret of this test'])
  return createMcpService({
    ...createToolCalling({ confirm, records, broadcast, sealingKeys, onBug }),
    ...{ exposure, confirm, records, broadcast, onBug },
    isSandbox: true,
    account: undefined,
    sessionFor: () => session,
  })
}

/** Opens a sandbox and a platform client for it. */
export async function openSandbox() {
  const platform = await openPlatform(
    { kind: 'sandbox', file: ':memory:', speed: 1, seed: 'small', webWaitMs: 0, llm: undefined },
    console.error,
  )
  const client = createClient({ send: platform.send, apiKey: 'sandbox-key', userAgent: 'test' })
  return { client, close: () => platform.close() }
}
