import { describe, expect, test } from 'vitest'
import { clientKinds, connectHttp, connectStdio } from '../harness/client.ts'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { startHttpProgram } from '../harness/program.ts'

describe.each(clientKinds)('%s', (kind) => {
  test('sees in the name and instructions that it is the sandbox, on both transports', async () => {
    await using program = await startHttpProgram()
    for (const connect of [() => connectStdio(kind), () => connectHttp(kind, program.url)]) {
      await using client = await connect()
      expect(client.serverName).toBe('voice-agent-mcp-sandbox')
      expect(client.instructions).toContain('SANDBOX')
    }
  })

  test('sees in the instructions how accounts and ids work, and no sandbox, on the real platform', async () => {
    await using platform = await startFakePlatform((_, res) => json(res, 200, { id: 'a' }))
    await using client = await connectStdio(kind, {
      env: { VOICE_AGENT_API_KEY: 'some-key', VOICE_AGENT_BASE_URL: platform.url },
    })
    expect(client.serverName).toBe('voice-agent-mcp')
    expect(client.instructions).toContain('list_subaccounts')
    expect(client.instructions).not.toMatch(/sandbox/i)
    await client.value('get_current_account')
    expect(platform.seen[0]?.headers).toMatchObject({
      'x-api-key': 'some-key',
      'user-agent': expect.stringMatching(/^voice-agent-mcp\/\d+\.\d+\.\d+$/),
    })
  })
})

test('requests of one server share kept-alive connections', async () => {
  const ports = new Set<number | undefined>()
  await using platform = await startFakePlatform((_, res) => {
    ports.add(res.socket?.remotePort)
    json(res, 200, { id: 'a' })
  })
  await using client = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_API_KEY: 'some-key', VOICE_AGENT_BASE_URL: platform.url },
  })
  for (let turn = 0; turn < 5; turn++) await client.value('get_current_account')
  expect(ports.size).toBe(1)
})
