import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { checkPrefix, decisionMetaKey, viewExtension } from '../../src/apps/views.ts'
import { yes } from '../harness/answering-client.ts'
import { ToolResult } from '../harness/client.ts'
import { clientMeta } from '../harness/mcp-request.ts'
import { outputFlaws } from '../harness/output-flaws.ts'
import {
  type Program,
  quietly,
  scratchFolder,
  startHttpProgram,
  startProgram,
} from '../harness/program.ts'
import { type RpcOptions, rpc } from '../harness/rpc.ts'
import { startRunningCallsPlatform } from '../harness/running-calls-platform.ts'
import { seedIds } from '../harness/sandbox.ts'
import { settableClock } from '../harness/settable-clock.ts'

const extension = 'io.modelcontextprotocol/tasks'
const takesTasks = { extensions: { [extension]: {} } }

const asker =
  (at: () => string) =>
  (method: string, params: Record<string, unknown>, options: RpcOptions = {}) =>
    rpc(at(), method, params, { capabilities: takesTasks, ...options })

let http: Program & { url: string }
beforeAll(async () => {
  http = await startHttpProgram({ VOICE_AGENT_SANDBOX_SPEED: '30' })
})
afterAll(() => http[Symbol.asyncDispose]())
const ask = asker(() => http.url)

let placed = 0
const follow = (to_number: string) => ({
  name: 'place_call',
  arguments: {
    type: 'phone',
    agent_id: seedIds.supportAgent,
    from_number: '+12025550110',
    to_number,
    follow: true,
    external_id: `task-${placed++}`,
  },
})

const started = async (to_number: string) => {
  const { result } = await ask('tools/call', follow(to_number))
  return String(result.taskId)
}

const ended = (taskId: string) =>
  expect.poll(async () => (await ask('tasks/get', { taskId })).result.status, { timeout: 15_000 })

test('a view, which can take no task, gets the call at once', async () => {
  await using asking = await startHttpProgram({
    VOICE_AGENT_CONFIRM: 'always',
    VOICE_AGENT_SANDBOX_SPEED: '30',
  })
  const capabilities = { extensions: { ...takesTasks.extensions, [viewExtension]: {} } }
  const { name, arguments: args } = follow('+12025550101')
  const answer = async (confirm_token?: string) => {
    const params = { name, arguments: { ...args, confirm_token } }
    return (await rpc(asking.url, 'tools/call', params, { capabilities })).result
  }
  const Preview = z.object({ [decisionMetaKey]: z.object({ confirm_token: z.string() }) })
  const { confirm_token } = Preview.parse((await answer())._meta)[decisionMetaKey]
  const placed = { resultType: 'complete', structuredContent: { id: expect.any(String) } }
  expect(await answer(confirm_token)).toMatchObject({
    ...placed,
    structuredContent: { status: 'in_progress' },
  })
  // A view that did not get that answer asks what is open.
  expect(await answer(checkPrefix + confirm_token)).toMatchObject(placed)
})

describe('a call that is followed as a task', () => {
  test('is a task at once', async () => {
    const { result } = await ask('tools/call', follow('+12025550106'))
    expect(result).toMatchObject({
      resultType: 'task',
      taskId: expect.any(String),
      status: 'working',
      statusMessage: 'ringing',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      ttlMs: expect.any(Number),
      pollIntervalMs: expect.any(Number),
    })
  })

  test('reports the state of the call while it goes on', async () => {
    const taskId = await started('+12025550106')
    await expect
      .poll(async () => (await ask('tasks/get', { taskId })).result.statusMessage)
      .toMatch(/\bhuman, \d+ s\b/)
  })

  test('ends with the result that the tool would give, by its output schema', async () => {
    const call = follow('+12025550104')
    const { result: task } = await ask('tools/call', call)
    const taskId = String(task.taskId)
    await ended(taskId).toBe('completed')
    const { result } = await ask('tasks/get', { taskId })
    const { structuredContent, content, isError } = ToolResult.parse(result.result)
    expect(isError).toBeFalsy()
    expect(content[0]?.text).toMatch(/\S/)
    expect(structuredContent).toMatchObject({
      ended: true,
      answer_status: 'machine',
      account_id: seedIds.account,
      external_id: call.arguments.external_id,
    })
    const { tools } = (await ask('tools/list', {})).result as {
      tools: { name: string; outputSchema: object }[]
    }
    const schema = tools.find(({ name }) => name === 'place_call')?.outputSchema
    expect(outputFlaws('place_call', structuredContent, Object(schema))).toBeUndefined()
  })

  test('that was placed before is followed, and not dialled again', async () => {
    const call = follow('+12025550101')
    await ask('tools/call', call)
    const { result } = await ask('tools/call', call)
    expect(result).toMatchObject({ resultType: 'task' })
    await ended(String(result.taskId)).toBe('completed')
    const { external_id } = call.arguments
    const found = await ask('tools/call', { name: 'list_calls', arguments: { external_id } })
    expect(ToolResult.parse(found.result).structuredContent?.total).toBe(1)
  })

  test('stays completed when it is cancelled then', async () => {
    const taskId = await started('+12025550101')
    await ended(taskId).toBe('completed')
    expect((await ask('tasks/cancel', { taskId })).error).toBeUndefined()
    expect((await ask('tasks/get', { taskId })).result.status).toBe('completed')
  })

  test('is no longer followed when it is cancelled, and the call goes on', async () => {
    const taskId = await started('+12025550106')
    expect(await ask('tasks/cancel', { taskId })).toMatchObject({ error: undefined })
    expect((await ask('tasks/get', { taskId })).result).toMatchObject({
      status: 'cancelled',
      statusMessage: expect.stringContaining('get_call'),
    })
    const calls = await ask('tools/call', {
      name: 'list_calls',
      arguments: { status: 'in_progress', agent_id: seedIds.supportAgent, limit: 1 },
    })
    expect(ToolResult.parse(calls.result).structuredContent?.total).toBeGreaterThan(0)
  })

  test('needs agreement as any other', async () => {
    await using careful = await startHttpProgram({ VOICE_AGENT_CONFIRM: 'auto' })
    const call = follow('+12025550106')
    const capabilities = { ...takesTasks, elicitation: {} }
    const question = await rpc(careful.url, 'tools/call', call, { capabilities })
    const { requestState } = question.result
    expect(question.result).toMatchObject({ inputRequests: { confirm: expect.anything() } })
    const answer = { ...call, inputResponses: { confirm: yes }, requestState }
    const { result } = await rpc(careful.url, 'tools/call', answer, { capabilities })
    expect(result).toMatchObject({ resultType: 'task' })
  })
})

test('over stdio a call is followed as a task, too', async () => {
  await using program = startProgram([], {
    ...quietly,
    VOICE_AGENT_SANDBOX_DB: ':memory:',
    VOICE_AGENT_SANDBOX_SPEED: '50',
  })
  const request = (id: number, method: string, params: object) =>
    program.process.stdin?.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: clientMeta(takesTasks) } })}\n`,
    )
  const answer = async (id: number) => {
    const line = () =>
      program
        .stdout()
        .split('\n')
        .find((one) => one.includes(`"id":${id}`) && one.includes('"result"'))
    await expect.poll(line).toBeDefined()
    return JSON.parse(line() ?? '').result as Record<string, unknown>
  }
  request(1, 'tools/call', follow('+12025550106'))
  const { taskId, resultType } = await answer(1)
  expect(resultType).toBe('task')
  request(2, 'tasks/cancel', { taskId })
  await answer(2)
  request(3, 'tasks/get', { taskId })
  expect((await answer(3)).status).toBe('cancelled')
})

describe('tasks are', () => {
  let taskId: string
  beforeAll(async () => {
    taskId = await started('+12025550106')
  })
  const methods = ['tasks/get', 'tasks/cancel', 'tasks/update'] as const

  test.each(methods)('for clients that declare them: %s', async (method) => {
    const { error } = await ask(method, { taskId }, { capabilities: {} })
    expect(error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: takesTasks },
    })
  })

  test.each(methods)('for their own key: %s', async (method) => {
    const { call } = JSON.parse(Buffer.from(taskId, 'base64url').toString())
    const older = { taskId: tokenFor(call) }
    const { error } = await ask(method, older, { key: 'sandbox-other-key' })
    expect(error).toMatchObject({ code: -32602 })
    expect((await ask('tasks/get', { taskId })).result.status).toBe('working')
  })

  test.each([
    ['words', 'made-up'],
    ['an empty text', ''],
    ['JSON of something else', Buffer.from('{"call":1}').toString('base64url')],
    ['a call that is none', tokenFor('no-such-call')],
    ['a path', tokenFor('../../agents')],
    ['a time to come', tokenFor('x', Date.now() + 1e12)],
    ['a day long gone', tokenFor('x', 0)],
    ['a thousand letters', 'x'.repeat(1001)],
  ])('not %s', async (_, taskId) => {
    for (const method of methods)
      expect((await ask(method, { taskId })).error).toMatchObject({ code: -32602 })
  })

  test('not for clients that do not declare them: those wait for the result', async () => {
    const { result } = await ask('tools/call', follow('+12025550101'), { capabilities: {} })
    expect(result).not.toHaveProperty('taskId')
    expect(ToolResult.parse(result).structuredContent).toMatchObject({
      ended: true,
      repeated: false,
      answer_status: 'user_busy',
    })
  })

  test('not waiting for answers: those are acknowledged, and nothing comes of them', async () => {
    const inputResponses = { confirm: yes }
    expect(await ask('tasks/update', { taskId, inputResponses })).toMatchObject({
      error: undefined,
      result: { resultType: 'complete' },
    })
    expect((await ask('tasks/get', { taskId })).result.status).toBe('working')
  })

  test('not offered to clients of the 2025 revisions, which cannot use them', async () => {
    const clientInfo = { name: 'test', version: '1' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const response = await fetch(http.url, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
    })
    const text = await response.text()
    expect(text).toContain('"capabilities":{"tools"')
    expect(text).not.toContain(extension)
    await using program = startProgram([], { ...quietly, VOICE_AGENT_SANDBOX_DB: ':memory:' })
    program.process.stdin?.write(`${JSON.stringify(message)}\n`)
    await expect.poll(program.stdout).toContain('"capabilities":{"tools"')
    expect(program.stdout()).not.toContain(extension)
  })

  test('declared by the server', async () => {
    const { result } = await ask('server/discover', {})
    expect(result).toMatchObject({ capabilities: { extensions: { [extension]: {} } } })
  })
})

/**
 * A task id of a call that the platform placed; default: a minute ago, when lists already show it.
 */
function tokenFor(call: string, created = Date.now() - 60_000): string {
  return Buffer.from(JSON.stringify({ account: 'me', call, created })).toString('base64url')
}

describe('a task of a platform', () => {
  test('is read only when it is asked for, and holds no key', async () => {
    await using platform = await startRunningCallsPlatform()
    const key = 'sk-0123456789'
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    const own = asker(() => program.url)
    const { arguments: args } = follow('+12025550100')
    const call = { name: 'place_call', arguments: { ...args, agent_id: platform.agent.id } }
    const { result } = await own('tools/call', call, { key })
    const taskId = String(result.taskId)
    expect(taskId).not.toContain(key)
    await new Promise((resolve) => setTimeout(resolve, 1300))
    expect(platform.reads('call-0')).toBe(0)
    expect((await own('tasks/get', { taskId }, { key })).result.status).toBe('working')
    platform.end('call-0', `My key is ${key}`)
    const task = (await own('tasks/get', { taskId }, { key })).result
    expect(task.status).toBe('completed')
    expect(JSON.stringify(task)).toContain('My key is [API key]')
    expect(JSON.stringify(task)).not.toContain(key)
    expect(platform.reads('call-0')).toBe(2)
  })

  test('is not given up because the platform does not show it yet', async () => {
    await using platform = await startRunningCallsPlatform()
    await using program = await startHttpProgram(platform.env)
    const own = asker(() => program.url)
    const started = async (external_id: string) => {
      const { arguments: args } = follow('+12025550100')
      const call = { ...args, agent_id: platform.agent.id, external_id }
      const { result } = await own('tools/call', { name: 'place_call', arguments: call })
      return String(result.taskId)
    }
    platform.hide(true)
    const taskId = await started('hidden')
    expect((await own('tasks/get', { taskId })).result).toMatchObject({
      status: 'working',
      statusMessage: expect.not.stringContaining('ringing'),
    })
    platform.hide(false)
    expect((await own('tasks/get', { taskId })).result.statusMessage).toMatch(/^ringing/)
    platform.hide(true)
    const unwanted = await started('unwanted')
    expect((await own('tasks/cancel', { taskId: unwanted })).error).toBeUndefined()
    expect((await own('tasks/get', { taskId: unwanted })).result.status).toBe('cancelled')
  })

  test('is not found at once when the journal does not hold its call, whatever time its id says', async () => {
    await using platform = await startRunningCallsPlatform()
    await using program = await startHttpProgram(platform.env)
    platform.hide(true)
    const taskId = tokenFor('call-9', Date.now())
    const { error } = await asker(() => program.url)('tasks/get', { taskId })
    expect(error?.code).toBe(-32602)
  })

  test('is not found half a minute after its call was placed, whatever time its id says', async () => {
    await using platform = await startRunningCallsPlatform()
    using folder = scratchFolder()
    const env = { ...platform.env, VOICE_AGENT_STATE_DIR: folder.path }
    await using program = await startHttpProgram(env)
    const own = asker(() => program.url)
    const call = { ...follow('+12025550100').arguments, agent_id: platform.agent.id }
    await own('tools/call', { name: 'place_call', arguments: call })
    platform.hide(true)
    const taskId = tokenFor('call-0', Date.now())
    expect((await own('tasks/get', { taskId })).result.status).toBe('working')
    using journal = new DatabaseSync(join(folder.path, 'calls.db'))
    journal.exec('UPDATE calls SET since = since - 31000, uptime = uptime - 31000')
    expect((await own('tasks/get', { taskId })).error?.code).toBe(-32602)
  })

  test.skipIf(process.platform === 'win32')(
    'is not given up because the clock was set forward meanwhile',
    async () => {
      await using platform = await startRunningCallsPlatform()
      await using program = await startHttpProgram({ ...platform.env, ...settableClock })
      const own = asker(() => program.url)
      const call = { ...follow('+12025550100').arguments, agent_id: platform.agent.id }
      const { result } = await own('tools/call', { name: 'place_call', arguments: call })
      platform.hide(true)
      const taskId = String(result.taskId)
      program.process.kill('SIGUSR2')
      const intervalMs = async () => {
        const task = (await own('tasks/get', { taskId })).result
        expect(task).toMatchObject({ status: 'working' })
        return task.pollIntervalMs
      }
      // By the clock, the call is now an hour old, and an older call is read less often.
      await expect.poll(intervalMs).toBe(5000)
    },
  )
})
