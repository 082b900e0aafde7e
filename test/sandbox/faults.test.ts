import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withFaults } from '../../src/sandbox/faults.ts'
import { connectStdio } from '../harness/client.ts'
import { newAgent } from '../harness/every-tool.ts'
import { scratchFolder, startPlatformProgram, startProgram } from '../harness/program.ts'

const fine = async () => Response.json({ fine: true })
const list = () => new Request('http://x/v1/accounts/me/agents')

describe('a fault', () => {
  test('affects only its route, and only as often as its rule says', async () => {
    const fetch = withFaults(fine, {
      rules: [
        { route: 'agents.list', times: 2, reply: { kind: 'error', status: 429, retry_after: 7 } },
      ],
    })
    expect((await fetch(new Request('http://x/v1/accounts/current'))).status).toBe(200)
    const struck = await fetch(list())
    expect(struck.status).toBe(429)
    expect(struck.headers.get('retry-after')).toBe('7')
    expect(await struck.json()).toMatchObject({ code: 'injected_fault', errors: null })
    expect((await fetch(list())).status).toBe(429)
    expect((await fetch(list())).status).toBe(200)
  })

  test('affects requests at random, and the same ones for equal seeds', async () => {
    const pattern = async (seed: number) => {
      const fetch = withFaults(fine, {
        seed,
        rules: [{ probability: 0.5, reply: { kind: 'empty', status: 503 } }],
      })
      const statuses: number[] = []
      for (let turn = 0; turn < 200; turn++) statuses.push((await fetch(list())).status)
      return statuses
    }
    const first = await pattern(1)
    expect(await pattern(1)).toEqual(first)
    expect(await pattern(2)).not.toEqual(first)
    const struck = first.filter((status) => status === 503).length
    expect(struck).toBeGreaterThan(70)
    expect(struck).toBeLessThan(130)
  })

  test('drops the connection before or after the request takes effect', async () => {
    let done = 0
    const count = async () => {
      done += 1
      return new Response()
    }
    for (const [when, times] of [
      ['before', 0],
      ['after', 1],
    ] as const) {
      const fetch = withFaults(count, { rules: [{ reply: { kind: 'drop', when } }] })
      expect((await fetch(list())).type).toBe('error')
      expect(done).toBe(times)
    }
  })
})

test('a served sandbox has the faults of its file, and the tools report them', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'faults.json')
  const rules = [
    { route: 'accounts.current', times: 2, reply: { kind: 'error', status: 503, retry_after: 0 } },
    { route: 'agents.list', times: 1, reply: { kind: 'drop' } },
    { route: 'agents.get', times: 1, reply: { kind: 'cut_off' } },
    { route: 'providers.models', times: 3, reply: { kind: 'html' } },
    { route: 'agents.create', times: 1, reply: { kind: 'drop', when: 'after' } },
    { route: 'subaccounts.list', delay_ms: 15_000 },
  ]
  writeFileSync(file, JSON.stringify({ rules }))
  await using platform = await startPlatformProgram({ VOICE_AGENT_SANDBOX_FAULTS: file })
  await using client = await connectStdio('v2 2026-07-28', {
    env: {
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_API_KEY: 'sandbox-key',
      VOICE_AGENT_TIMEOUT: '3',
    },
  })
  const resultText = async (name: string, args = {}) =>
    (await client.call(name, args)).content[0]?.text
  expect((await client.value('get_current_account')).name).toBe('Sandbox account')
  const before = (await client.value('list_agents')).total as number
  const [agent] = (await client.value('list_agents', { limit: 1 })).items as { id: string }[]
  expect((await client.value('get_agent', { agent_id: agent?.id })).id).toBe(agent?.id)
  expect(await resultText('list_models')).toMatch(/HTML page/)
  expect(await resultText('create_agent', newAgent)).toMatch(/\blist_agents\b/)
  expect((await client.value('list_agents')).total).toBe(before + 1)
  expect(await resultText('list_subaccounts')).toMatch(/\b3(\.\d)? s\b/)
})

test.each([
  ['no JSON', '{', /faults\.json/],
  ['an unknown route', '{"rules":[{"route":"agents.lst","delay_ms":1}]}', /rules\[0\]\.route/],
  ['a rule that does nothing', '{"rules":[{}]}', /\bdelay_ms\b.*\breply\b/],
])('a file with %s is refused', async (_, text, message) => {
  using folder = scratchFolder()
  const file = join(folder.path, 'faults.json')
  writeFileSync(file, text)
  await using program = startProgram(['sandbox', '--port', '0', '--faults', file], {
    VOICE_AGENT_SANDBOX_DB: ':memory:',
  })
  expect(await program.exited).toBe(1)
  expect(program.stderr()).toMatch(message)
})
