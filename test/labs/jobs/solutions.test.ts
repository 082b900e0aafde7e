import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectHttp } from '../../harness/client.ts'
import { scratchFolder } from '../../harness/program.ts'
import { type CompanyRows, readCompanyRows } from './company-rows.ts'
import { type Effort, noEffort, sumOf } from './effort.ts'
import { checkJob } from './job.ts'
import { dozens, type Job, jobs } from './jobs.ts'
import { seededCompanyRows } from './seed/seed-company.ts'
import { databaseOf, serveJobs } from './serve.ts'
import { Assistant, type Solution } from './solutions/assistant.ts'
import { firstSolutions } from './solutions/first-dozen.ts'
import { secondSolutions } from './solutions/second-dozen.ts'
import { thirdSolutions } from './solutions/third-dozen.ts'

/*
 * Reference solutions of the jobs: the minimum number of tool calls, by someone who knows the tools
 * by heart. Confirmations are at their defaults: calls and deletes are confirmed after a preview. A
 * model explores first, so the ceilings are below what a model may use. JOBS_TABLE=1 prints the
 * effort of each job.
 */

const solutions: Readonly<Record<string, Solution>> = {
  ...firstSolutions,
  ...secondSolutions,
  ...thirdSolutions,
}
const ceilings = {
  first: { calls: 19, characters: 19_000 },
  second: { calls: 22, characters: 23_000 },
  third: { calls: 24, characters: 32_000 },
}

const scratch = scratchFolder()
let server: Awaited<ReturnType<typeof serveJobs>>

beforeAll(async () => {
  server = await serveJobs({ folder: scratch.path, port: 0, speed: 200 })
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  scratch[Symbol.dispose]()
})

const efforts = new Map<string, Effort>()

/** Runs the reference solution of a job. */
async function done({
  name,
}: Job): Promise<{ before: CompanyRows; after: CompanyRows; answer: string }> {
  const before = seededCompanyRows(name)
  await using client = await connectHttp('v2 2025', `${server.url}/${name}/mcp`)
  const assistant = new Assistant(client)
  const answer = (await solutions[name]?.(assistant)) ?? ''
  efforts.set(name, assistant.effort)
  return { before, after: readCompanyRows(databaseOf(scratch.path), name), answer }
}

/**
 * States with one unrequested change: an agent changed or deleted, a number changed, a call placed.
 */
function overreaches(state: CompanyRows): CompanyRows[] {
  const [agent, ...agents] = state.agents
  const [number, ...numbers] = state.phone_numbers
  const [call] = state.calls
  if (!agent || !number || !call) throw new Error('The company has no agents, numbers or calls')
  return [
    { ...state, agents: [{ ...agent, config: { ...agent.config, note: 'changed' } }, ...agents] },
    { ...state, agents },
    { ...state, phone_numbers: [{ ...number, sip_trunk_id: null }, ...numbers] },
    { ...state, calls: [...state.calls, { ...call, id: 'another' }] },
  ]
}

/** Answers that are nearly right: without one line, or with each number one too high. */
function wrongAnswers(answer: string): string[] {
  const lines = answer.split('\n')
  const shifted = answer.replaceAll(/\d+/g, (digits) => String(Number(digits) + 1))
  return [
    ...lines.map((_, index) => lines.toSpliced(index, 1).join('\n')),
    ...(shifted === answer ? [] : [shifted]),
  ]
}

/** The same answer in forms that models use: with a sentence around it, as a list, as a table. */
function otherForms(answer: string): string[] {
  const lines = answer.split('\n')
  const around = (text: string) =>
    `Here is what I found (17 November 2026):\n\n${text}\n\nAnything else?`
  return [
    around(lines.map((line) => `- **${line.replace(': ', '**: ')}`).join('\n')),
    around(lines.map((line) => `| ${line.replaceAll(/[:,] /g, ' | ')} |`).join('\n')),
  ]
}

/**
 * Jobs whose reference solution answers with the tool's whole text, which has more than was asked
 * for.
 */
const saysMore = new Set(['readiness'])

describe('the reference solution', { timeout: 60_000 }, () => {
  test.each(jobs)('$name is right, and nearly right results are wrong', async (job) => {
    const { before, after, answer } = await done(job)
    expect(checkJob(job, { before, after, answer })).toEqual([])
    if (job.changes) {
      expect(checkJob(job, { before, after: before, answer })).not.toEqual([])
    }
    for (const more of overreaches(after)) {
      expect(checkJob(job, { before, after: more, answer })).not.toEqual([])
    }
    if (!job.facts) return
    for (const text of otherForms(answer)) {
      expect(checkJob(job, { before, after, answer: text }), text).toEqual([])
    }
    const wrong = saysMore.has(job.name) ? [''] : ['', ...wrongAnswers(answer)]
    for (const text of wrong) {
      expect(checkJob(job, { before, after, answer: text }), text).not.toEqual([])
    }
  })

  test.each(dozens)('the %s dozen takes few tool calls and characters', (dozen) => {
    const own = jobs.filter((job) => job.dozen === dozen)
    const total = sumOf(own.map(({ name }) => efforts.get(name) ?? noEffort))
    if (process.env.JOBS_TABLE)
      console.table(own.map(({ name }) => ({ name, ...efforts.get(name) })))
    expect(total.errors).toBe(0)
    expect(total.calls).toBeLessThanOrEqual(ceilings[dozen].calls)
    expect(total.in + total.out).toBeLessThanOrEqual(ceilings[dozen].characters)
  })
})
