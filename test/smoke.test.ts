import { expect, test } from 'vitest'
import { clientKinds, connectHttp, connectStdio } from './harness/client.ts'
import { startHttpProgram } from './harness/program.ts'

test.each(clientKinds)('%s over stdio', async (kind) => {
  await using client = await connectStdio(kind)
  expect(await client.listTools()).toHaveLength(29)
  expect(client.serverName).toBe('voice-agent-mcp-sandbox')
  expect(client.instructions).toContain('SANDBOX')
  const account = await client.value('get_current_account')
  expect(account.name).toBe('Sandbox account')
})
test.each(clientKinds)('%s over http', async (kind) => {
  await using program = await startHttpProgram()
  await using client = await connectHttp(kind, program.url)
  expect(await client.listTools()).toHaveLength(29)
  const account = await client.value('get_current_account')
  expect(account.name).toBe('Sandbox account')
  expect((await client.listResources()).resources).toHaveLength(8)
})
