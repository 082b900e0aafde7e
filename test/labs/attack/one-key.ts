import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { envelope, json } from '../../harness/fake-platform.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { callBuiltTool } from '../measure/program.ts'
import type { Attack } from './attack.ts'
import type { Scenario } from './scenario.ts'

/** A current number and the highest so far. */
class Gauge {
  now = 0
  most = 0

  add(by: 1 | -1): void {
    this.now += by
    this.most = Math.max(this.most, this.now)
  }
}

/** A platform that refuses one key and answers another slowly; it counts what it is asked. */
async function slowPlatform(attack: Attack) {
  const upstream = new Gauge()
  const watched = new Set<string>()
  const platform = await attack.platform(({ url, headers }, response) => {
    const key = String(headers['x-api-key'])
    if (key === 'refused-key') return json(response, 401, envelope('unauthorized'))
    if (url.endsWith('/accounts/current')) return json(response, 200, { id: 'own' })
    if (url.includes('/agents/')) watched.add(url)
    upstream.add(1)
    setTimeout(
      () => {
        upstream.add(-1)
        json(response, 200, { id: 's1', name: 'There' })
      },
      key === 'greedy-key' ? 200 : 0,
    )
  }, {})
  return { platform, upstream, watched }
}

export const oneKey: Scenario = {
  name: 'one-key',
  point:
    'A client opens 999 streams with a refused key, watches 1,000 resources on each of 100 streams, and calls tools 5,000 times at once.',
  guarantee:
    'Refused keys hold no stream; 429 tells which limit is reached; the platform gets few requests at once, and other clients are served.',
  async run(attack) {
    const { platform, upstream, watched } = await slowPlatform(attack)
    // As behind a proxy, the other clients have the same address.
    const env = {
      ...platform.env,
      VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS: '0',
      VOICE_AGENT_MAX_STREAMS_PER_ADDRESS: '0',
    }
    const server = await attack.serve({ isMemoryScarce: true, env })
    const dispatcher = new Agent({ connections: null, bodyTimeout: 0 })
    attack.keep({ [Symbol.asyncDispose]: () => dispatcher.destroy() })
    const send = async (asked: ReturnType<typeof mcpHttpRequest>) => {
      const { method, headers, body } = asked
      const response = await request(server.url, { method, headers, body, dispatcher })
      // The stream stays open and is not read.
      const isStream = String(response.headers['content-type']).startsWith('text/event-stream')
      response.body.on('error', () => undefined)
      if (!isStream) await response.body.dump()
      return response.statusCode
    }
    const listen = (key: string, uris: string[]) =>
      send(
        mcpHttpRequest(
          'subscriptions/listen',
          { notifications: { resourceSubscriptions: uris } },
          { key },
        ),
      )
    const others = () =>
      callBuiltTool(
        server.url,
        'get_subaccount',
        { subaccount_id: '11111111-1111-4111-8111-111111111111' },
        { key: 'other-key' },
      )
    const all = (count: number, one: (index: number) => Promise<number>) =>
      Promise.all(Array.from({ length: count }, (_, index) => one(index)))

    const models = ['voice-agents://catalog/models']
    const refused = await all(999, () => listen('refused-key', models))
    assert.ok(refused.every((status) => [401, 429, 503].includes(status)))
    assert.equal(await listen('other-key', models), 200)

    const agents = (stream: number) =>
      Array.from({ length: 1000 }, (_, index) => `voice-agents://agents/a${stream}-${index}`)
    const streams = await all(100, (stream) => listen('greedy-key', agents(stream)))
    assert.ok(streams.includes(429))
    await sleep(1500)
    assert.ok(watched.size <= 250, `${watched.size} resources are watched`)

    const call = {
      name: 'get_subaccount',
      arguments: { subaccount_id: '11111111-1111-4111-8111-111111111111' },
    }
    const calls = all(5000, () => send(mcpHttpRequest('tools/call', call, { key: 'greedy-key' })))
    let answered = 0
    const done = calls.then(() => true)
    while (!(await Promise.race([done, sleep(50, false)]))) {
      assert.ok(!(await others()).isError)
      answered++
    }
    const statuses = await calls
    assert.ok(statuses.includes(429))
    assert.ok(upstream.most <= 128, `${upstream.most} requests to the platform at once`)
    assert.ok((await fetch(new URL('/health', server.url))).ok)
    return {
      'resources watched': watched.size,
      'requests to the platform at once': upstream.most,
      'calls answered': statuses.filter((status) => status === 200).length,
      'others answered meanwhile': answered,
    }
  },
}
