import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tools } from '../../../tools/index.ts'
import { scratchFolder } from '../../harness/program.ts'
import { counts, namesExactly, says, telephonesExactly } from './answer-checks.ts'
import { Fits, problemsOf } from './changes.ts'
import { companyOf } from './company-lookups.ts'
import { type CompanyRows, readCompanyRows } from './company-rows.ts'
import { checkJob } from './job.ts'
import { dozens, jobs } from './jobs.ts'
import { makeSeededSandbox } from './seed/seed-company.ts'

/** Initial state of the company in every job. */
function untouched(): Map<string, CompanyRows> {
  using folder = scratchFolder()
  const file = join(folder.path, 'sandbox.db')
  makeSeededSandbox(file, jobs)
  return new Map(jobs.map(({ name }) => [name, readCompanyRows(file, name)]))
}
const companies = untouched()
const companyFor = (job: string): CompanyRows => {
  const state = companies.get(job)
  if (!state) throw new Error(`There is no job ${job}`)
  return state
}

test('there are three dozens of jobs, without names of tools and ids', () => {
  expect(new Set(jobs.map(({ name }) => name)).size).toBe(jobs.length)
  for (const dozen of dozens) {
    expect(jobs.filter((job) => job.dozen === dozen)).toHaveLength(12)
  }
  const toolNames = tools.map(({ name }) => name).filter((name) => name.includes('_'))
  for (const { name, text } of jobs) {
    expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/)
    expect(text).not.toMatch(/[0-9a-f]{8}-|_id\b/)
    for (const tool of toolNames) expect(text).not.toContain(tool)
  }
})

test.each(jobs)('$name: an untouched sandbox without an answer is wrong', (job) => {
  const before = companyFor(job.name)
  expect(checkJob(job, { before, after: before, answer: '' })).not.toEqual([])
})

test.each(jobs)(
  '$name: an untouched sandbox and an answer that names everything is wrong',
  (job) => {
    const before = companyFor(job.name)
    const everything = before.agents.map(({ config }) => `${config.name}: 999, 999`).join('\n')
    expect(checkJob(job, { before, after: before, answer: everything })).not.toEqual([])
  },
)

const company = companyFor('create-agent')
const { agent } = companyOf(company)
const reception = agent('Reception')

const withAgent = (id: string, config: Record<string, unknown>): CompanyRows => ({
  ...company,
  agents: company.agents.map((one) =>
    one.id === id ? { ...one, config: { ...one.config, ...config } } : one,
  ),
})

test('an unrequested change is found, and so is a missing one', () => {
  const changed = withAgent(reception.id, { note: 'other' })
  expect(problemsOf({}, company, changed)).toEqual([
    expect.stringMatching(/^agents Reception: config.note is "other"/),
  ])
  const set = { 'config.note': 'other' }
  const asked = { changed: [{ table: 'agents' as const, id: reception.id, set }] }
  expect(problemsOf(asked, company, changed)).toEqual([])
  expect(problemsOf(asked, company, company)).toHaveLength(1)
})

test('the time of the last save is compared only if a job names it', () => {
  const saved = { ...reception, modified: reception.modified + 1 }
  const after = {
    ...company,
    agents: company.agents.map((one) => (one.id === saved.id ? saved : one)),
  }
  expect(problemsOf({}, company, after)).toEqual([])
  const set = { modified: new Fits('saved again', (now) => Number(now) > reception.modified) }
  const asked = { changed: [{ table: 'agents' as const, id: reception.id, set }] }
  expect(problemsOf(asked, company, after)).toEqual([])
  expect(problemsOf(asked, company, company)).toHaveLength(1)
})

test('a new, missing or duplicate row is found', () => {
  const [first, ...others] = company.agents
  const fewer = { ...company, agents: others }
  expect(problemsOf({}, company, fewer)).toEqual([`agents ${first?.config.name} is gone`])
  const fresh = { ...reception, id: 'new' }
  const more = { ...company, agents: [...company.agents, fresh] }
  expect(problemsOf({}, company, more)).toEqual(['agents: 1 new, not 0: Reception'])
  const row = { 'config.name': new Fits('Reception', (name) => name === 'Reception') }
  const added = [{ table: 'agents' as const, about: 'Reception', row }]
  expect(problemsOf({ added }, company, more)).toEqual([])
  const twice = { ...more, agents: [...more.agents, { ...fresh, id: 'newer' }] }
  expect(problemsOf({ added }, company, twice)).toHaveLength(1)
  const removed = [{ table: 'agents' as const, id: reception.id }]
  expect(problemsOf({ removed }, company, company)).toEqual(['agents Reception still exists'])
})

test.each([
  ['Reception: 12, 34', true],
  ['| **Reception** | 12 | 34.4 min |', true],
  ['Reception: 12 conversations, 34 minutes (2,064 s)', true],
  ['Reception: 13, 34', false],
  ['Reception: 12, 36', false],
  ['Reception Berlin: 12, 34', false],
  ['Reception: 12, 34\nReception: 11, 34', false],
  ['On 3 November: Reception 12 and 34', true],
  ['Reception Berlin 9, 9; Reception 12, 34', true],
  ['In all 99 conversations; Reception: 12, 34', true],
  ['nothing', false],
])('counts of an agent in "%s" are right: %s', (answer, isRight) => {
  const fact = counts(
    'Reception',
    [{ value: 12 }, { value: 34.3, within: 1 }],
    ['Reception', 'Reception Berlin'],
  )
  expect(fact(answer) === undefined).toBe(isRight)
})

test('an extra name, an extra number and a wrong word are found', () => {
  const names = namesExactly(['Katja', 'Lena'], ['Katja', 'Lena', 'Mika'])
  expect(names('Katja (azure), Lena (cartesia)')).toBeUndefined()
  expect(names('Katja, Lena, Mika')).toBe('names Mika')
  expect(names('Katja, Lena; Mika is neutral')).toBe('names Mika')
  expect(names('Katja')).toBe('does not name Lena')
  const neutral = namesExactly(['Katja'], ['Katja', 'Mika'], /neutral/)
  expect(neutral('Katja\nMika is neutral')).toBeUndefined()
  const sunday = counts('Sunday', [{ value: 0 }], [])
  expect(sunday('Sunday, 15 November: none')).toBeUndefined()
  expect(sunday('Sunday 15 Nov 2026: 2')).toBeDefined()
  const telephones = telephonesExactly(['+13035550141'])
  expect(telephones('+1 (303) 555-0141')).toBeUndefined()
  expect(telephones('+13035550141 and +13035550142')).toBe('names +13035550142')
  const ben = says('Ben', /nobody/i, /machine/i)
  expect(ben('Anna: a machine\nBen: nobody answered')).toBeUndefined()
  expect(ben('Ben: a machine, nobody answered')).toMatch(/^says/)
})
