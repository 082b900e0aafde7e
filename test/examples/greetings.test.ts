import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { blocksOf, root } from '../docs/documents.ts'
import { type Program, startPlatformProgram, startProcess } from '../harness/program.ts'
import { seedIds } from '../harness/sandbox.ts'

const example = join(root, 'docs/examples/greetings')

const Step = z.union([
  z.strictObject({ uses: z.string(), with: z.record(z.string(), z.string()) }),
  z.strictObject({ run: z.string(), env: z.record(z.string(), z.string()).default({}) }),
])
const Workflow = z.looseObject({
  permissions: z.strictObject({ contents: z.literal('read') }),
  jobs: z.strictObject({ greetings: z.looseObject({ steps: z.array(Step) }) }),
})
const { jobs } = Workflow.parse(parse(readFileSync(join(example, 'check-greetings.yml'), 'utf8')))
const steps = jobs.greetings.steps.filter((step) => 'run' in step)

/** Runs the last step of the job as a CI runner does, with these variables and secrets. */
async function runJob(
  values: Readonly<Record<string, string>>,
  extra: Record<string, string> = {},
) {
  const step = steps.at(-1)
  if (!step) throw new Error('The job has no step that runs anything')
  const filledIn = Object.entries(step.env).map(([name, text]) => [
    name,
    text.replaceAll(/\$\{\{ (?:vars|secrets)\.(\w+) \}\}/g, (_, key) => values[key] ?? ''),
  ])
  const env = { CI: 'true', GITHUB_ACTIONS: 'true', ...Object.fromEntries(filledIn), ...extra }
  await using program = startProcess(['/bin/sh', '-ec', `cd '${root}'; ${step.run}`], env)
  const status = await program.exited
  return { status, stdout: program.stdout(), stderr: program.stderr() }
}

describe('the job that checks greetings', { timeout: 60_000 }, () => {
  let platform: Program & { url: string }
  beforeAll(async () => {
    platform = await startPlatformProgram()
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  const ours = () => ({ VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: 'sandbox-key' })

  /** Calls the platform's API with the account's key. */
  async function api(method: string, path: string, body?: object) {
    const headers = { 'X-API-Key': 'sandbox-key', 'content-type': 'application/json' }
    const options = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const reply = await fetch(`${platform.url}/v1/accounts/${path}`, options)
    expect(reply.ok, await reply.clone().text()).toBe(true)
    return z.looseObject({ id: z.string() }).parse(await reply.json())
  }

  test('installs as the index of the examples says', () => {
    const [install] = blocksOf('docs/examples/README.md')
    expect(steps[0]).toMatchObject({ run: install?.text })
  })

  test('succeeds where all greetings are right', async () => {
    const { status, stdout, stderr } = await runJob(ours())
    expect(status, stderr).toBe(0)
    expect(stdout).toBe('3 greetings checked, 0 to correct\n')
  })

  test('names the greetings to correct, of every account and page, as errors of the run', async () => {
    const {
      id: _,
      created: __,
      modified: ___,
      ...agent
    } = await api('GET', `me/agents/${seedIds.supportAgent}`)
    const add = (account: string, name: string, message: string) =>
      api('POST', `${account}/agents`, { ...agent, name, initial_message: { message } })
    const { subaccount } = seedIds
    await add('me', 'Broken', 'Hello {{ contact.first_name }}!\n{% if %}')
    await add(subaccount, 'Typo', 'Hello {{ contact.first_nam }}!')
    await add(subaccount, 'Ours', 'This is {{ practice }}.')
    await add('me', '50%\n::warning::forged', 'Hello {{ nobody }}!')
    for (let index = 0; index < 110; index++) await add(subaccount, `Good ${index}`, 'Hello.')

    const { status, stdout } = await runJob(ours())
    expect(status).toBe(1)
    const lines = stdout.trim().split('\n')
    expect(lines.pop()).toBe('117 greetings checked, 3 to correct')
    expect(lines.sort()).toEqual([
      "::error::50%25\\n::warning::forged (Sandbox account): line 1: Unknown variable 'nobody'.",
      "::error::Broken (Sandbox account): line 2: Expected an expression, got 'end of statement block'",
      "::error::Typo (Sandbox branch): line 1: Unknown variable 'contact.first_nam'.",
    ])
  })

  test('does not succeed where it cannot check', async () => {
    const wrongKey = await runJob({ ...ours(), VOICE_AGENT_API_KEY: 'wrong' })
    expect(wrongKey).toMatchObject({ status: 2, stdout: '' })
    expect(wrongKey.stderr).toMatch(/\bHTTP 401\b.*\bVOICE_AGENT_API_KEY\b/s)
    const unset = await runJob({})
    expect(unset).toMatchObject({ status: 2, stdout: '' })
    expect(unset.stderr).toContain('VOICE_AGENT_BASE_URL')
    const noKey = await runJob({ VOICE_AGENT_BASE_URL: platform.url })
    expect(noKey).toMatchObject({ status: 2, stdout: '' })
  })
})
