import { expect, test } from 'vitest'
import { callTool } from '../../src/mcp/call.ts'
import { createMemories } from '../../src/mcp/memory.ts'
import { tools } from '../../tools/index.ts'

const [tool] = tools

test('a defect of our own reads neither as the network nor as the platform', async () => {
  const bugs: unknown[] = []
  const broken = { call: () => Promise.reject(new TypeError('x is not a function')) }
  const result = await callTool(
    tool as NonNullable<typeof tool>,
    {},
    {
      session: {
        client: broken,
        memory: createMemories()('a key', broken),
        isSandbox: false,
        keySource: 'a test',
        account: undefined,
        redact: (text) => text,
      },
      tools,
      onBug: (error) => bugs.push(error),
    },
  )
  const [content] = result.content
  const text = content?.type === 'text' ? content.text : ''
  expect(result.isError).toBe(true)
  expect(text).toMatch(/defect in voice-agent-mcp itself, neither the network nor the platform/)
  expect(text).not.toContain('x is not a function')
  expect(bugs).toHaveLength(1)
})
