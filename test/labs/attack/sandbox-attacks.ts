import assert from 'node:assert/strict'
import { seedIds } from '../../../src/sandbox/seed.ts'
import { hostileSources, hostileTemplate, templateCount } from '../../harness/hostile-templates.ts'
import { exchange } from '../../harness/raw-http.ts'
import { callBuiltTool } from '../measure/clients.ts'
import { usageOf } from '../measure/program.ts'
import { round } from '../measure/report.ts'
import { healthDuring, type Scenario } from './attack.ts'

/** Number of templates used, evenly spread over the 11,000 of test/jinja. */
const count = 30
const templates = Array.from({ length: count }, (_, index) =>
  hostileTemplate(Math.floor((index * templateCount) / count)),
)

/**
 * Maximum processor time of one request, s: several times what the step limit of a template allows.
 */
const longest = 2

export const hostileTemplates: Scenario = {
  name: 'hostile-templates',
  point: 'Templates use as much time, memory, variables and nesting as possible.',
  guarantee:
    'Each rendering ends by its step limit, the server uses at most 512 MB, and SIGTERM stops it.',
  async run(attack) {
    const server = await attack.serve({ isMemoryScarce: true })
    let max = 0
    const measured = async (asked: () => Promise<unknown>) => {
      const before = usageOf(server.process).cpu
      await asked()
      max = Math.max(max, round(usageOf(server.process).cpu - before))
    }
    const health = await healthDuring(server.url, async () => {
      for (const make of Object.values(hostileSources)) {
        const template = make()
        await measured(() => callBuiltTool(server.url, 'validate_agent_template', { template }))
      }
      for (const message of templates) await measured(() => render(server.url, message))
    })
    assert.ok(max < longest, `A request took ${max} s of processor time`)

    // Requests fail if the server ends first.
    const left = Promise.allSettled(templates.map((message) => render(server.url, message)))
    server.process.kill('SIGTERM')
    assert.equal(await server.exited, 0)
    await left
    return {
      templates: templates.length + Object.keys(hostileSources).length,
      'most processor time of one, s': max,
      ...health,
    }
  },
}

/**
 * Places a telephone call whose greeting is the template, which is rendered at the start of the
 * call.
 */
async function render(url: string, message: string): Promise<void> {
  const changed = await callBuiltTool(url, 'update_agent', {
    agent_id: seedIds.supportAgent,
    initial_message: { message },
  })
  assert.ok(!changed.isError, JSON.stringify(changed.content))
  const call = { type: 'web', agent_id: seedIds.supportAgent }
  const placed = await callBuiltTool(url, 'place_call', {
    ...call,
    external_id: crypto.randomUUID(),
  })
  assert.ok(!placed.isError, JSON.stringify(placed.content))
}

/** Chunk of a body that exceeds the size limit many times over. */
const piece = `100000\r\n${'x'.repeat(0x100000)}\r\n`
const manyPieces = piece.repeat(8)

const head = (host: string, key: string, more: string) =>
  `POST /v1/accounts/me/agents HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\n${more}\r\n\r\n`
const large = 'Content-Length: 200000000'
const chunked = 'Transfer-Encoding: chunked'

/**
 * Request bytes, and a pattern for the beginning of the response. The response may be lost if the
 * server closes a connection on which the client still sends.
 */
const requests: Readonly<Record<string, readonly [string, RegExp]>> = {
  'another Host': [head('evil.example', 'sandbox-key', large), /^HTTP\/1.1 403 /],
  'a wrong key': [head('localhost', 'wrong', large), /^HTTP\/1.1 401 /],
  'a wrong key, in pieces': [
    head('localhost', 'wrong', chunked) + manyPieces,
    /^($|HTTP\/1.1 401 )/,
  ],
  'a large body': [head('localhost', 'sandbox-key', large), /^HTTP\/1.1 413 /],
  'a large body, in pieces': [
    head('localhost', 'sandbox-key', chunked) + manyPieces,
    /^($|HTTP\/1.1 413 )/,
  ],
}

/** Concurrent requests of each kind. */
const times = 50

export const sandboxRest: Scenario = {
  name: 'sandbox-rest',
  point:
    'Web pages and clients without a key send 250 concurrent requests of 200 MB to the REST server of the sandbox.',
  guarantee: 'Host and key are checked before a body is read, and at most 1 MiB of a body is read.',
  async run(attack) {
    const { url } = await attack.sandbox({ isMemoryScarce: true })
    const sent = Object.entries(requests).flatMap((one) => Array(times).fill(one) as (typeof one)[])
    const wrong = await Promise.all(
      sent.map(async ([name, [bytes, answer]]) => {
        const response = await exchange(url, bytes)
        return answer.test(response) ? undefined : `${name}: ${response.slice(0, 100)}`
      }),
    )
    assert.deepEqual(
      wrong.filter((one) => one !== undefined),
      [],
    )
    const account = await fetch(`${url}/v1/accounts/current`, {
      headers: { 'x-api-key': 'sandbox-key' },
    })
    assert.equal(account.status, 200)
    return { requests: sent.length }
  },
}
