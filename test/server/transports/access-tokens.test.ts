import { expect, test } from 'vitest'
import { startFakePlatform } from '../../harness/fake-platform.ts'
import { bearer, callTool } from '../../harness/oauth-flow.ts'
import { startHttpProgram } from '../../harness/program.ts'

test('without --oauth an access token is refused, too, and never sent to the platform', async () => {
  await using platform = await startFakePlatform((_, response) => response.end('{}'))
  await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
  const token = 'voice-agent-mcp-access-x.voice-agent-mcp'
  const answer = await callTool(program.url, 'list_agents', bearer(token))
  expect(answer.status).toBe(401)
  expect(await answer.text()).toMatch(/runs without --oauth/)
  expect((await callTool(program.url, 'list_agents', { 'x-api-key': token })).status).toBe(400)
  expect(platform.seen).toEqual([])
})
