import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPerson, tokenOf, yes } from '../harness/answering-client.ts'
import { connectHttp, type ToolResult } from '../harness/client.ts'
import { badCalls, everyTool } from '../harness/every-tool.ts'
import {
  canary,
  type Planted,
  startCanaryPlatform,
  unsafeLines,
} from '../harness/hostile-text-platform.ts'
import { type Program, startHttpProgram } from '../harness/program.ts'
import { rpc } from '../harness/rpc.ts'
import { seedIds } from '../harness/sandbox.ts'

/** Checks that a text escapes the canary. */
const expectSafe = (text: string, where: string) => expect(unsafeLines(text), where).toEqual([])

const lineOf = (text: unknown, where: string) => {
  expectSafe(String(text), where)
  expect(String(text), where).not.toContain('\n')
}

/** All strings in a value, including field names. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, field]) => [name, ...textsIn(field)])
}

describe.each<Planted>(['every text', 'all but words of the API'])('a canary in %s', (where) => {
  let platform: Awaited<ReturnType<typeof startCanaryPlatform>>
  let program: Program & { url: string }
  const key = 'sk-0123456789'
  beforeAll(async () => {
    platform = await startCanaryPlatform(where)
    program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
  })
  afterAll(async () => {
    await program[Symbol.asyncDispose]()
    await platform[Symbol.asyncDispose]()
  })
  const client = () => connectHttp('v2 2026-07-28', program.url, { 'x-api-key': key })
  const ask = (method: string, params: Record<string, unknown>, capabilities = {}) =>
    rpc(program.url, method, params, { key, capabilities })

  function expectToolSafe(name: string, { content, structuredContent }: ToolResult) {
    const text = content[0]?.text ?? ''
    expectSafe(text, name)
    // JSON text contains the values unchanged.
    if (text.startsWith('{') && !text.includes('\n') && structuredContent) {
      const known = new Set(textsIn(structuredContent))
      expect(
        textsIn(JSON.parse(text)).filter((one) => !known.has(one) && !/ more/.test(one)),
        name,
      ).toEqual([])
    }
  }

  test('comes out of every tool as data, and in no line of its own', async () => {
    await using connected = await client()
    const results = await everyTool(connected)
    for (const [name, result] of results) expectToolSafe(name, result)
    // Without results that contain the canary, the test would prove nothing.
    const through = [...results.values()].filter(({ structuredContent }) =>
      textsIn(structuredContent).some((text) => text.includes(canary)),
    )
    expect(through.length).toBeGreaterThan(where === 'every text' ? 5 : 20)
  })

  test('comes out of no error, hint or warning in a line of its own', async () => {
    await using connected = await client()
    for (const [name, [args]] of Object.entries(badCalls))
      expectToolSafe(name, await connected.call(name, args))
    const unknown = '00000000-0000-4000-8000-00000000dead'
    const misses: [string, object][] = [
      ['get_call', { call_id: unknown }],
      ['get_agent', { agent_id: 'Suport line' }],
      ['update_phone_number', { phone_number_id: unknown, inbound_agent_id: 'Suport line' }],
      ['get_subaccount', { subaccount_id: unknown }],
      ['list_calls', { agent_id: 'Suport line' }],
      ['list_conversations', { transcript: 'all', fields: ['*'] }],
      ['list_conversations', { search: 'canary' }],
      ['list_agents', { account_id: unknown }],
      ['list_voices', { provider: 'elevenlabs', language: 'klingon' }],
      [
        'check_call_readiness',
        { agent_id: 'Suport line', from_number: '+12025550110', to_number: '+12025550103' },
      ],
      [
        'check_call_readiness',
        { agent_id: seedIds.supportAgent, from_number: '+12025550999', to_number: '+12025550103' },
      ],
      [
        'update_agent',
        {
          agent_id: seedIds.supportAgent,
          voice: { provider: 'elevenlabs', voice_id: 'sbx-en-us-adda' },
        },
      ],
      ['update_agent', { agent_id: seedIds.supportAgent, note: 'a\nb', dry_run: true }],
      ['get_agent', { agent_id: canary }],
      ['create_subaccount', { [canary]: canary }],
    ]
    for (const [name, args] of misses)
      expectToolSafe(`${name} ${JSON.stringify(args)}`, await connected.call(name, { ...args }))
    platform.fail(true)
    try {
      for (const [name, result] of await everyTool(connected)) expectToolSafe(name, result)
    } finally {
      platform.fail(false)
    }
  })

  test('comes out of resources, prompts and completions likewise', async () => {
    const { result: listed } = await ask('resources/list', {})
    for (const { name, title, description, uri } of listed.resources as Record<string, string>[]) {
      for (const text of [name, title, description ?? '']) lineOf(text, 'a resource')
      const { result } = await ask('resources/read', { uri })
      const [contents] = (result.contents ?? []) as { text: string }[]
      // A skill has several lines; its text is our own.
      if (contents) (uri?.startsWith('skill:') ? expectSafe : lineOf)(contents.text, String(uri))
    }
    const agent_id = seedIds.supportAgent
    const trunks = { from_trunk_id: seedIds.trunk, to_trunk_id: seedIds.inboundTrunk }
    const { result: calls } = await ask('tools/call', { name: 'list_calls', arguments: {} })
    const { items } = calls.structuredContent as { items: { id: string }[] }
    const prompts: [string, Record<string, string>][] = [
      ['design_agent', { brief: 'An agent\nfor two lines', language: 'de' }],
      ['review_agent', { agent_id }],
      ['review_agent', { agent_id: 'Suport line' }],
      ['go_live_checklist', { agent_id, from_number: '+12025550110' }],
      ['go_live_checklist', { agent_id, from_number: '+12025550999' }],
      ['investigate_call', { call_id: String(items[0]?.id) }],
      ['investigate_call', { call_id: 'none' }],
      ['review_calls', {}],
      ['weekly_usage_report', {}],
      ['migrate_numbers', trunks],
    ]
    let attached = 0
    for (const [name, args] of prompts) {
      const { result, error } = await ask('prompts/get', { name, arguments: args })
      if (error) lineOf(error.message, name)
      for (const { content } of (result.messages ?? []) as {
        content: { text?: string; resource?: { uri: string; text: string } }
      }[]) {
        expectSafe(content.text ?? content.resource?.text ?? '', name)
        lineOf(content.resource?.uri ?? '', name)
        if (content.resource) attached++
      }
    }
    expect(attached).toBeGreaterThan(5)
    for (const name of [
      'agent_id',
      'account_id',
      'from_number',
      'call_id',
      'language',
      'provider',
    ]) {
      for (const ref of [
        { type: 'ref/prompt', name: 'review_agent' },
        { type: 'ref/resource', uri: 'voice-agents://agents/{agent_id}' },
      ]) {
        const { result } = await ask('completion/complete', { ref, argument: { name, value: '' } })
        const { values } = result.completion as { values: string[] }
        for (const value of values) lineOf(value, `completion of ${name}`)
      }
    }
  })

  test('comes out of questions, previews, tasks and progress likewise', async () => {
    const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: key }
    await using person = await connectPerson('v2 2026-07-28', { env, answer: yes })
    await using previewing = await connectPerson('v2 2026-07-28', { env })
    const call = {
      type: 'phone',
      agent_id: seedIds.supportAgent,
      from_number: '+12025550110',
      to_number: '+12025550100',
    }
    const progress: string[] = []
    const onProgress = (message: string) => progress.push(message)
    const confirmed: [string, object][] = [
      ['archive_agent', { agent_id: '00000000-0000-4000-8002-000000000003' }],
      ['delete_phone_number', { phone_number_id: seedIds.spareNumber }],
      ['delete_sip_trunk', { sip_trunk_id: seedIds.inboundTrunk }],
      ['update_subaccount', { subaccount_id: seedIds.subaccount, is_active: false }],
      ['place_call', { ...call, follow: true, test_variables: { [canary]: canary } }],
      [
        'place_calls',
        {
          agent_id: call.agent_id,
          from_number: call.from_number,
          calls: [{ to_number: '+12025550101' }],
        },
      ],
    ]
    // Without elicitation, reversible actions need no confirmation.
    const undoable = ['archive_agent', 'update_subaccount']
    for (const [name, args] of confirmed.filter(([tool]) => !undoable.includes(tool))) {
      const preview = await previewing.call(name, args)
      expectToolSafe(name, preview)
      if (where !== 'every text') expect(tokenOf(preview) ?? preview.isError, name).toBeTruthy()
    }
    for (const [name, args] of confirmed.toReversed())
      expectToolSafe(name, await person.call(name, args, { onProgress }))
    expect(person.asked.length).toBeGreaterThan(2)
    for (const question of person.asked) expectSafe(question, 'a question')
    for (const message of progress) lineOf(message, 'progress')

    const takesTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
    const { result } = await ask(
      'tools/call',
      { name: 'place_call', arguments: { ...call, follow: true } },
      takesTasks,
    )
    if (typeof result.taskId !== 'string') return expect(where).toBe('every text')
    lineOf(result.statusMessage, 'a task')
    const { result: task } = await ask('tasks/get', { taskId: result.taskId }, takesTasks)
    lineOf(task.statusMessage, 'a task')
    const ended = task.result as ToolResult | undefined
    if (ended) expectToolSafe('a task', ended)
  })
})
