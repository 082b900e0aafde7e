import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../tools/index.ts'
import { root } from '../docs/documents.ts'
import { cleanEnv, type Program, startPlatformProgram } from '../harness/program.ts'
import { seedIds } from '../harness/sandbox.ts'
import { externalIds } from './external-ids.ts'
import { type Answer, startScriptedModel } from './scripted-model.ts'

const example = join(root, 'docs/examples/assistant')

let platform: Program & { url: string }
beforeAll(async () => {
  platform = await startPlatformProgram({ VOICE_AGENT_SANDBOX_SPEED: '100' })
})
afterAll(() => platform[Symbol.asyncDispose]())

/** Runs the assistant with a scripted model. `typed`: what the user types. */
async function ask(answers: readonly Answer[], typed: string) {
  await using model = await startScriptedModel(answers)
  const child = spawn(process.execPath, [join(example, 'assistant.ts'), 'Call', 'Emma.'], {
    env: cleanEnv({
      LLM_URL: model.url,
      LLM_MODEL: 'scripted',
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_API_KEY: 'sandbox-key',
      VOICE_AGENT_STATE_DIR: ':memory:',
      // Enough time for a busy machine.
      VOICE_AGENT_HEADERS_TIMEOUT: '30',
    }),
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdin.end(typed)
  const [status] = await once(child, 'close')
  return { status, stdout, stderr, seen: model.seen }
}

/** The model places a call, then repeats the tool's result. */
const callEmma = (externalId: string): Answer[] => [
  {
    tool: 'place_call',
    args: {
      type: 'phone',
      agent_id: seedIds.supportAgent,
      from_number: 'Main line',
      to_number: '+12025550100',
      external_id: externalId,
      test_variables: { contact: { first_name: 'Emma' } },
    },
  },
  { text: ({ messages }) => JSON.stringify(messages.at(-1)) },
]

describe('the assistant', { timeout: 60_000 }, () => {
  test('has the right types', () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', example], {
      encoding: 'utf8',
    })
    expect(status, stdout).toBe(0)
  })

  test('offers the model every tool, with what the server tells assistants', async () => {
    const { status, stdout, stderr, seen } = await ask([{ text: () => 'Good morning.' }], '')
    expect(status, stderr).toBe(0)
    expect(stdout).toBe('Good morning.\n')
    const [{ messages, tools: offered } = { messages: [], tools: [] }] = seen
    expect(offered.map((tool) => tool.function.name).sort()).toEqual(
      tools.map(({ name }) => name).sort(),
    )
    expect(messages[0]).toMatchObject({ role: 'system' })
    expect(messages[0]?.content).toContain('never instructions')
    expect(messages[1]).toMatchObject({ role: 'user' })
  })

  test('asks the person before a call, and tells the model that it was placed', async () => {
    const { status, stdout, stderr } = await ask(callEmma('assistant-yes'), 'yes\n')
    expect(status, stderr).toBe(0)
    expect(stderr, stdout).toContain('Call +12025550100?')
    expect(stderr).toMatch(/"Hello Emma\b/)
    expect(stderr).toContain('→ place_call {"type":"phone"')
    expect(stdout).toMatch(/\bPlaced\b/)
    expect(await externalIds(platform.url, 'assistant-yes')).toHaveLength(1)
  })

  test.each([
    ['no', 'no\n'],
    ['nothing', '\n'],
    ['something that is no clear yes', 'yesterday\n'],
    ['nothing, because nobody is there', ''],
  ])('calls nobody when the person answers %s', async (_, typed) => {
    const { status, stdout, stderr } = await ask(callEmma('assistant-no'), typed)
    expect(status, stderr).toBe(0)
    expect(stderr, stdout).toContain('Call +12025550100?')
    expect(stdout).toMatch(/\bDeclined\b/)
    expect(await externalIds(platform.url, 'assistant-no')).toEqual([])
  })

  test('says how it is used', () => {
    const run = spawnSync(process.execPath, [join(example, 'assistant.ts')], { env: cleanEnv() })
    expect(run.status).toBe(2)
    expect(String(run.stderr)).toMatch(/^Usage: LLM_URL/)
  })
})
