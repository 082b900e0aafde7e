import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { yes } from '../harness/answering-client.ts'
import { rpc } from '../harness/rpc.ts'

/*
 * Task states that the real server's calls never reach: failed, and waiting for input. The fixture
 * has such tasks, behind the real server's task methods.
 */

const program = spawn(process.execPath, [join(import.meta.dirname, 'fixture-server.ts')])
let url: string
beforeAll(async () => {
  const [line] = await once(createInterface(program.stdout), 'line')
  url = String(line)
})
afterAll(() => program.kill())

const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } }
const ask = (method: string, params: Record<string, unknown>) =>
  rpc(url, method, params, { capabilities })

const started = async (name: string) => {
  const { result } = await ask('tools/call', { name, arguments: {} })
  expect(result).toMatchObject({ resultType: 'task', status: 'working' })
  return String(result.taskId)
}
const task = async (taskId: string) => (await ask('tasks/get', { taskId })).result
const ended = (taskId: string, status: string) =>
  expect.poll(async () => (await task(taskId)).status).toBe(status)

describe('a task', () => {
  test('is completed with the result of a tool that failed', async () => {
    const taskId = await started('failing_job')
    await ended(taskId, 'completed')
    expect(await task(taskId)).toMatchObject({
      resultType: 'complete',
      result: { isError: true, content: [{ type: 'text' }] },
    })
  })

  test('is failed with the error of its request', async () => {
    const taskId = await started('protocol_error_job')
    await ended(taskId, 'failed')
    const failed = await task(taskId)
    expect(failed).toMatchObject({ error: { code: -32603, message: expect.any(String) } })
    expect(failed).not.toHaveProperty('result')
  })

  test('waits until each of its requests is answered', async () => {
    const taskId = await started('multi_input')
    const { status, inputRequests } = await task(taskId)
    expect(status).toBe('input_required')
    const [first = '', second = ''] = Object.keys(Object(inputRequests))
    await ask('tasks/update', { taskId, inputResponses: { [first]: yes, unknown: yes } })
    const left = await task(taskId)
    expect(left.status).toBe('input_required')
    expect(Object.keys(Object(left.inputRequests))).toEqual([second])
    const { result } = await ask('tasks/update', { taskId, inputResponses: { [second]: yes } })
    expect(result).toEqual({ resultType: 'complete', _meta: expect.anything() })
    await ended(taskId, 'completed')
  })

  test('that waits can be cancelled', async () => {
    const taskId = await started('multi_input')
    await ask('tasks/cancel', { taskId })
    expect((await task(taskId)).status).toBe('cancelled')
  })
})

test('a tool that works only as a task refuses clients without tasks', async () => {
  const call = { name: 'failing_job', arguments: {} }
  const { error } = await rpc(url, 'tools/call', call, { capabilities: {} })
  expect(error).toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
  })
})
