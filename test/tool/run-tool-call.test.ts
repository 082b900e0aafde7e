import { expect, test } from 'vitest'
import { runToolCall } from '../../src/tool/run-tool-call.ts'
import { tools } from '../../tools/index.ts'
import { errorOf, ToolResult } from '../harness/client.ts'
import { sessionOf } from '../harness/session.ts'

const [tool] = tools

test('a defect of this program is not reported as a failure of network or platform', async () => {
  const bugs: unknown[] = []
  const broken = { call: () => Promise.reject(new TypeError('x is not a function')) }
  const called = await runToolCall(
    tool as NonNullable<typeof tool>,
    {},
    {
      session: sessionOf(broken),
      confirmOf: async () => async () => ({ by: 'off', giveBack: async () => undefined }),
      progress: () => undefined,
      takesTasks: false,
      tools,
      onBug: (error) => bugs.push(error),
    },
  )
  const result = ToolResult.parse(called)
  expect(result.isError).toBe(true)
  expect(errorOf(result)).toMatchObject({ kind: 'internal', retryable: false })
  expect(JSON.stringify(result)).not.toContain('x is not a function')
  expect(bugs).toHaveLength(1)
})
