import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKinds, connectHttp, connectStdio, type TestClient } from '../harness/client.ts'
import { badCalls, everyTool } from '../harness/every-tool.ts'
import { outputFlaws } from '../harness/output-flaws.ts'
import { type Program, startHttpProgram } from '../harness/program.ts'

let program: Program & { url: string }
beforeAll(async () => {
  program = await startHttpProgram()
})
afterAll(() => program[Symbol.asyncDispose]())

const connections: [string, () => Promise<TestClient>][] = clientKinds.flatMap((kind) => [
  [`${kind} over stdio`, () => connectStdio(kind)],
  [`${kind} over HTTP`, () => connectHttp(kind, program.url)],
])

describe.each(connections)('%s', (_, connect) => {
  test('every tool works, and its result matches its output schema', async () => {
    await using client = await connect()
    const tools = await client.listTools()
    const results = await everyTool(client)
    expect([...results.keys()].sort()).toEqual(tools.map(({ name }) => name).sort())
    for (const { name, outputSchema } of tools) {
      const result = results.get(String(name))
      expect(result?.isError, `${name}: ${result?.content[0]?.text}`).toBeFalsy()
      expect(result?.content[0]?.text).toMatch(/\S/)
      const flaws = outputFlaws(String(name), result?.structuredContent, Object(outputSchema))
      expect(flaws, String(name)).toBeUndefined()
    }
  })

  test('every tool answers bad arguments with an error that names the argument', async () => {
    await using client = await connect()
    const names = (await client.listTools()).map(({ name }) => String(name))
    expect(Object.keys(badCalls).sort()).toEqual(names.sort())
    for (const [name, [args, named]] of Object.entries(badCalls)) {
      const result = await client.call(name, args)
      expect(result.isError, name).toBe(true)
      expect(result.content[0]?.text, name).toMatch(new RegExp(`(^|\\W)${named}\\b`))
      expect(result.content[0]?.text, name).toContain('Next: ')
      expect(result.structuredContent, name).toBeUndefined()
    }
  })
})
