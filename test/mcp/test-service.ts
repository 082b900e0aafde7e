import packageJson from '../../package.json' with { type: 'json' }
import { everyTool } from '../../src/mcp/exposure.ts'
import { type Client, createClient } from '../../src/platform/client.ts'
import { openPlatform } from '../../src/server/platform.ts'
import { createMcpService } from '../../src/server/service.ts'
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
  return createMcpService({
    exposure,
    isSandbox: true,
    account: undefined,
    sessionFor: () => session,
    confirm: 'auto',
    records: createSqliteRecords(':memory:', '--state-dir'),
    broadcast: createLocalBroadcast(),
    sealingKeys: sealingKeysFrom(async () => ['a secret of this test']),
    onBug,
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
