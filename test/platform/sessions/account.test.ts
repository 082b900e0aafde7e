import { describe, expect, test } from 'vitest'
import { connectHttp, connectStdio } from '../../harness/client.ts'
import { type Behaviour, envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { startHttpProgram } from '../../harness/program.ts'

const own = '7d0e5a4c-0d5a-4c56-9d0e-6a1f0e4b7c11'

const answering: Behaviour = ({ url }, res) =>
  url === '/v1/accounts/current'
    ? json(res, 200, { id: own, name: 'Own' })
    : json(res, 200, { count: 1, items: [{ id: 'one' }] })

const envOf = (platform: { url: string }) => ({
  VOICE_AGENT_API_KEY: 'some-key-0123456789',
  VOICE_AGENT_BASE_URL: platform.url,
})

describe('requests that name no account', () => {
  test('are sent with the id of the API key’s account, which is read once', async () => {
    await using platform = await startFakePlatform(answering)
    await using client = await connectStdio('v2 2026-07-28', { env: envOf(platform) })
    // Concurrent first requests share one read.
    await Promise.all(['list_calls', 'list_phone_numbers'].map((name) => client.value(name)))
    expect(await client.value('list_calls')).toMatchObject({ account_id: own })
    await client.value('list_calls', { account_id: 'me' })
    await client.listResources()
    const urls = platform.seen.map(({ url }) => url.replace(/\?.*/, ''))
    expect(urls.filter((url) => url === '/v1/accounts/current')).toHaveLength(1)
    expect(urls.filter((url) => url.startsWith(`/v1/accounts/${own}/`))).toHaveLength(5)
    expect(urls).toHaveLength(6)
  })

  test('do not read the account again after get_current_account', async () => {
    await using platform = await startFakePlatform(answering)
    await using client = await connectStdio('v2 2026-07-28', { env: envOf(platform) })
    await client.value('get_current_account')
    await client.value('list_calls')
    expect(platform.seen).toHaveLength(2)
  })

  test('fail if the read of the account fails, and the next request reads it again', async () => {
    await using platform = await startFakePlatform((_, res) =>
      json(res, 401, envelope('unauthorized', 'The key is not valid.')),
    )
    await using client = await connectStdio('v2 2026-07-28', { env: envOf(platform) })
    const refused = await client.call('list_calls')
    expect(refused.isError).toBe(true)
    expect(refused._meta?.['voice-agent-mcp/error']).toMatchObject({
      kind: 'rejected',
      status: 401,
      path: '/v1/accounts/current',
    })
    platform.behave(answering)
    expect(await client.value('list_calls')).toMatchObject({ account_id: own })
  })

  test('of different API keys never get each other’s account', async () => {
    const idOf = (key: string) => `account ${key.length}`
    await using platform = await startFakePlatform(({ url, headers }, res) =>
      url === '/v1/accounts/current'
        ? json(res, 200, { id: idOf(String(headers['x-api-key'])) })
        : json(res, 200, { count: 0, items: [] }),
    )
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    for (const key of ['first-key-0123', 'second-key-0123', 'first-key-0123']) {
      await using client = await connectHttp('v2 2026-07-28', `${program.url}`, {
        'x-api-key': key,
      })
      expect(await client.value('list_calls')).toMatchObject({ account_id: idOf(key) })
    }
    const asked = platform.seen.filter(({ url }) => url === '/v1/accounts/current')
    expect(asked).toHaveLength(2)
  })
})
