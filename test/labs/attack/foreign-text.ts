import assert from 'node:assert/strict'
import { canary, startCanaryPlatform, unsafeLines } from '../../harness/canary-platform.ts'
import { connectHttp, type ToolResult } from '../../harness/client.ts'
import { badCalls, everyTool } from '../../harness/story.ts'
import { textOf } from '../measure/program.ts'
import { attackKey } from './attack.ts'
import type { Scenario } from './scenario.ts'

export const foreignText: Scenario = {
  name: 'foreign-text',
  point:
    'Every text of every reply has line breaks, terminal controls, hidden and reordering characters, and imitates texts of this server.',
  guarantee:
    'In the text of a result it stays on one line and in quotes; in structuredContent it is unchanged.',
  async run(attack) {
    const planted = attack.keep(await startCanaryPlatform('all but words of the API'))
    const server = await attack.serve({ env: { VOICE_AGENT_BASE_URL: planted.url } })
    const client = attack.keep(
      await connectHttp('v2 2026-07-28', server.url, { 'x-api-key': attackKey }),
    )
    let kept = 0
    const check = (name: string, result: ToolResult) => {
      assert.deepEqual(unsafeLines(textOf(result)), [], name)
      if (JSON.stringify(result.structuredContent ?? {}).includes(escaped)) kept++
    }
    for (const [name, result] of await everyTool(client)) check(name, result)
    for (const [name, [args]] of Object.entries(badCalls))
      check(name, await client.call(name, args))
    planted.fail(true)
    for (const [name, result] of await everyTool(client)) check(name, result)
    assert.ok(kept > 20, `The text came through ${kept} tools only`)
    assert.deepEqual(unsafeLines(server.stderr()), [])
    return { 'results with the text': kept }
  },
}

const escaped = JSON.stringify(canary).slice(1, -1)
