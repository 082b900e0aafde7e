import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { connectHttp } from '../../harness/client.ts'
import { cleanEnv, freePort, scratchFolder, startProcess } from '../../harness/program.ts'
import { makeSeededSandbox } from './seed/seed-company.ts'

const jobsCommand = (...args: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
    encoding: 'utf8',
    env: cleanEnv(),
  })

test('an unknown job or command is refused with the usage', () => {
  expect(jobsCommand('list', 'no-such-job')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^[^\n]*no-such-job[\s\S]*npm run jobs/),
  })
  expect(jobsCommand('begin').status).toBe(2)
  expect(jobsCommand('check').status).toBe(2)
})

test('a run is checked and reported by job', () => {
  using folder = scratchFolder()
  const inFolder = (name: string) => join(folder.path, name)
  makeSeededSandbox(inFolder('sandbox.db'), [{ name: 'last-words' }, { name: 'readiness' }])
  writeFileSync(
    inFolder('answers.json'),
    JSON.stringify({
      'last-words': 'Goodbye.',
      readiness: 'The trunk has no termination URI, and offer_name is not given.',
    }),
  )
  const line = { verb: 'call', name: 'check_call_readiness', in: 20, out: 300, error: false }
  const lines = [{ verb: 'tools', chars: 9000 }, line, { ...line, error: true }]
  writeFileSync(
    inFolder('readiness.jsonl'),
    lines.map((one) => `${JSON.stringify(one)}\n`).join(''),
  )
  const common = ['--folder', folder.path, '--answers', inFolder('answers.json'), '--json']
  const checked = jobsCommand('check', 'last-words', 'readiness', ...common)
  expect(checked.status).toBe(1)
  expect(JSON.parse(checked.stdout)).toMatchObject({
    right: 1,
    of: 2,
    jobs: [
      { name: 'last-words', problems: [/a call to \+12025550109 is missing/, /wrong number/] },
      { name: 'readiness', problems: [] },
    ].map(({ name, problems }) => ({
      name,
      problems: problems.map((problem) => expect.stringMatching(problem)),
    })),
  })
  const reported = jobsCommand('report', 'readiness', '--logs', folder.path, ...common)
  expect(reported.status).toBe(0)
  expect(JSON.parse(reported.stdout)).toMatchObject({
    rows: [{ job: 'readiness', calls: 2, errors: 1, in: 40, out: 600, right: true }],
  })
})

const Started = z.object({
  url: z.string(),
  jobs: z.array(z.object({ job: z.string(), mcp_url: z.string() })),
})

test('each job has an address of its own, for MCP and for the REST API', {
  timeout: 60_000,
}, async () => {
  using folder = scratchFolder()
  const main = join(import.meta.dirname, 'main.ts')
  const port = await freePort()
  const place = ['--folder', folder.path, '--port', String(port)]
  await using server = startProcess([process.execPath, main, 'start', ...place, '--json'])
  const early = () => fetch(`http://127.0.0.1:${port}/readiness/v1/accounts/current`)
  await expect.poll(() => early().catch(() => undefined), { timeout: 40_000 }).toBeDefined()
  await expect.poll(() => server.stdout(), { timeout: 40_000 }).toMatch(/\}\n$/)
  const { url, jobs } = Started.parse(JSON.parse(server.stdout()))
  const accounts = await Promise.all(
    jobs.slice(0, 2).map(async ({ job, mcp_url }) => {
      await using client = await connectHttp('v2 2025', mcp_url)
      const { id } = await client.value('get_current_account')
      const reply = await fetch(`${url}/${job}/v1/accounts/current`)
      expect(await reply.json()).toMatchObject({ id, name: 'Northwind Dental Group' })
      return id
    }),
  )
  expect(new Set(accounts).size).toBe(2)
  expect((await fetch(`${url}/no-such-job/mcp`)).status).toBe(404)
  server.process.kill('SIGTERM')
  expect(await server.exited).toBe(0)
})
