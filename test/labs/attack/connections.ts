import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { envelope, json } from '../../harness/fake-platform.ts'
import { crowd, heardOn, httpText } from '../../harness/hostile-client.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { callBuiltTool, textOf } from '../measure/clients.ts'
import { concurrently } from '../measure/concurrency.ts'
import {
  type Attack,
  eventually,
  type Figures,
  healthDuring,
  readSubaccount,
  type Scenario,
} from './attack.ts'

const readers = 62
/** Bytes sent per connection. The responses are 400 times as long. */
const sent = 66_000
const patience = 3000

export const unreadAnswers: Scenario = {
  name: 'unread-answers',
  point: 'Many connections request the list of tools again and again, and never read a response.',
  guarantee: 'The server uses at most 512 MB, and serves other clients.',
  async run(attack) {
    const server = await attack.serve({ isMemoryScarce: true })
    const list = httpText(mcpHttpRequest('tools/list'))
    using clients = await crowd(server.url, readers)
    const many = list.repeat(Math.ceil(sent / list.length))
    for (const socket of clients.sockets) socket.write(many)
    return { connections: readers, ...(await othersServed(server.url, patience)) }
  },
}

/** Calls a tool for `ms`, as well-behaved clients do, and polls /health meanwhile. */
async function othersServed(url: string, ms: number): Promise<Figures> {
  let calls = 0
  const health = await healthDuring(url, async () => {
    for (const end = performance.now() + ms; performance.now() < end; calls++) {
      assert.ok(!(await callBuiltTool(url, 'get_current_account')).isError)
      await sleep(50)
    }
  })
  return { 'calls of others': calls, ...health }
}

const senders = 200
const bodyLength = 4 * 1024 * 1024
const clientSeconds = 3

export const unfinishedBodies: Scenario = {
  name: 'unfinished-bodies',
  point: 'On 200 connections a client sends a body of 4 MiB without its end.',
  guarantee: 'The server uses at most 512 MB, serves other clients, and times the bodies out.',
  async run(attack) {
    const server = await attack.serve({
      isMemoryScarce: true,
      env: { VOICE_AGENT_CLIENT_TIMEOUT: String(clientSeconds) },
    })
    using clients = await crowd(server.url, senders)
    const begun = httpText(mcpHttpRequest('tools/list'), { length: bodyLength })
    const unfinished = Buffer.alloc(bodyLength - 4096, ' ')
    for (const socket of clients.sockets) {
      socket.write(begun)
      socket.write(unfinished)
    }
    const others = await othersServed(server.url, clientSeconds * 1000)
    // The server refuses each connection: at once (503) if there are too many, or when the time
    // limit for the request's body is over (408).
    const heard = await Promise.all(clients.sockets.map((socket) => heardOn(socket)))
    const statuses = new Set(heard.map((text) => text.slice('HTTP/1.1 '.length, 12)))
    for (const status of statuses) assert.match(status, /^(408|503|)$/)
    return { connections: senders, ...others }
  },
}

export const noDescriptors: Scenario = {
  name: 'no-descriptors',
  point: 'A client opens so many connections that the server runs out of file descriptors.',
  guarantee: 'Connected clients still get responses, and the server recovers afterwards.',
  async run(attack) {
    const platform = await attack.platform((_, response) => json(response, 200, { id: 's1' }))
    // No tool was called before, so the code for the first tool call is not loaded yet.
    const server = await attack.serve({ env: platform.env, before: 'ulimit -n 64' })
    const { name, arguments: args } = readSubaccount
    const read = () => callBuiltTool(server.url, name, args)
    const isWell = async () => (await fetch(new URL('/health', server.url))).ok
    // This connection stays open for the next requests.
    assert.ok(await isWell())
    using clients = await crowd(server.url, 200)
    const { sockets } = clients
    for (const socket of sockets) socket.resume()
    await eventually('some connections are refused', () => sockets.some(({ closed }) => closed))
    const held = sockets.filter(({ closed }) => !closed).length
    const during = await read()
    if (during.isError) assert.match(textOf(during), /\(EMFILE\)/)
    for (const socket of sockets) socket.destroy()
    await eventually('a tool can be called', () =>
      read().then(
        ({ isError }) => !isError,
        () => false,
      ),
    )
    assert.ok(await isWell())
    return {
      'connections held': held,
      'a call meanwhile': during.isError ? 'failed, with a reason' : 'answered',
    }
  },
}

/** A current number and the highest so far. */
class Gauge {
  now = 0
  max = 0

  add(by: 1 | -1): void {
    this.now += by
    this.max = Math.max(this.max, this.now)
  }
}

/** A platform that refuses one API key and answers another slowly. Counts requests. */
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
    'A client opens 999 streams with a refused key, subscribes to 1,000 resources on each of 100 streams, and sends 5,000 concurrent tool calls.',
  guarantee:
    'A refused key gets no stream, a 429 names the limit, the platform gets few concurrent requests, and other clients are served.',
  async run(attack) {
    const { platform, upstream, watched } = await slowPlatform(attack)
    // As behind a proxy, all clients have the same address.
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
    const { name, arguments: args } = readSubaccount
    const others = () => callBuiltTool(server.url, name, args, { key: 'other-key' })

    const models = ['voice-agents://catalog/models']
    const refused = await concurrently(999, () => listen('refused-key', models))
    assert.ok(refused.every((status) => [401, 429, 503].includes(status)))
    assert.equal(await listen('other-key', models), 200)

    const agents = (stream: number) =>
      Array.from({ length: 1000 }, (_, index) => `voice-agents://agents/a${stream}-${index}`)
    const streams = await concurrently(100, (stream) => listen('greedy-key', agents(stream)))
    assert.ok(streams.includes(429))
    await sleep(1500)
    assert.ok(watched.size <= 250, `${watched.size} resources are watched`)

    const calls = concurrently(5000, () =>
      send(mcpHttpRequest('tools/call', readSubaccount, { key: 'greedy-key' })),
    )
    let answered = 0
    const done = calls.then(() => true)
    while (!(await Promise.race([done, sleep(50, false)]))) {
      assert.ok(!(await others()).isError)
      answered++
    }
    const statuses = await calls
    assert.ok(statuses.includes(429))
    assert.ok(upstream.max <= 128, `${upstream.max} requests to the platform at once`)
    assert.ok((await fetch(new URL('/health', server.url))).ok)
    return {
      'resources watched': watched.size,
      'requests to the platform at once': upstream.max,
      'calls answered': statuses.filter((status) => status === 200).length,
      'others answered meanwhile': answered,
    }
  },
}
