import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CallRow } from '../../../src/sandbox/call-row.ts'
import { openSandbox } from '../../../src/sandbox/sandbox.ts'
import { seedIds } from '../../../src/sandbox/seed.ts'
import { scratchFolder } from '../../harness/program.ts'
import { repeatFor } from '../measure/concurrency.ts'
import { median, round, type Section } from '../measure/report.ts'
import { sendToSandbox } from './servers-and-requests.ts'

const yearMs = 365 * 24 * 3_600_000
const now = Date.now()
const yearAgo = now - yearMs

const agent = {
  name: 'Bench',
  model: { provider: 'openai', model: 'gpt-4.1' },
  transcriber: { provider: 'deepgram', model: 'nova-2:general' },
  voice: { provider: 'elevenlabs', voice_id: 'sbx-el-ada' },
}

const usageOfTheYear = `analytics/usage?${new URLSearchParams({
  start: new Date(yearAgo).toISOString(),
  end: new Date(now).toISOString(),
  granularity: 'day',
  group_by: 'agent',
})}`

/** Measures the sandbox in this process, without HTTP. */
export async function sandbox(conversations: number): Promise<Section[]> {
  using folder = scratchFolder()
  const file = join(folder.path, 'sandbox.db')
  const small = openSandbox({ file, speed: 1 })
  const creates = await throughput(() => sendToSandbox(small, 'POST', 'agents', agent))
  const gets = await throughput(() => sendToSandbox(small, 'GET', `agents/${seedIds.supportAgent}`))
  small.close()
  addConversations(file, conversations)
  const opening = await runs(9, () => openSandbox({ file, speed: 1 }).close())
  const large = openSandbox({ file, speed: 1 })
  const usage = await runs(16, () => sendToSandbox(large, 'GET', usageOfTheYear))
  large.close()
  return [
    {
      title: 'sandbox, in process',
      unit: 'requests per second of one core',
      values: {
        'create agent, wall clock': creates.perSecond,
        'get agent, wall clock': gets.perSecond,
      },
      goals: [
        { name: 'create agent', value: creates.perCpuSecond, atLeast: 3000 },
        { name: 'get agent', value: gets.perCpuSecond, atLeast: 10_000 },
      ],
    },
    {
      title: `sandbox with ${conversations} conversations`,
      unit: 'ms',
      values: {
        'file, MB': Math.round(statSync(file).size / 1e6),
        'first usage of a year': round(usage[0] ?? Number.NaN, 1),
        'usage of a year': round(median(usage), 1),
      },
      goals: [{ name: 'opening it', value: round(median(opening), 1), atMost: 150 }],
    },
  ]
}

/** Adds conversations like those of the seed, evenly spread over the last year. */
export function addConversations(file: string, conversations: number): void {
  const db = new DatabaseSync(file)
  // Fast but unsafe: a crash corrupts the file, which holds only generated data.
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000')
  const patterns = db
    .prepare('SELECT * FROM calls')
    .all()
    .map((row) => CallRow.parse(row))
  const columns = Object.keys(CallRow.shape)
  const insert = db.prepare(
    `INSERT INTO calls (${columns.join(', ')}) VALUES (:${columns.join(', :')})`,
  )
  db.exec('BEGIN')
  for (let index = patterns.length; index < conversations; index++) {
    const pattern = patterns[index % patterns.length]
    if (!pattern) throw new Error('The seed has no calls to take as patterns')
    const created = yearAgo + Math.round((index / conversations) * (yearMs - 3_600_000))
    const later = created - pattern.created
    insert.run({
      ...pattern,
      id: randomUUID(),
      created,
      answered: pattern.answered && pattern.answered + later,
      ended: pattern.ended + later,
    })
  }
  db.exec('COMMIT')
  db.close()
}

/**
 * Measures requests for two seconds, after half a second of warm-up. Processor time is least
 * affected by other load.
 */
async function throughput(request: () => Promise<unknown>) {
  await repeatFor(0.5, 1, request)
  const began = process.cpuUsage()
  const { times, seconds } = await repeatFor(2, 1, request)
  const { user, system } = process.cpuUsage(began)
  return {
    perSecond: Math.round(times.length / seconds),
    perCpuSecond: Math.round((times.length * 1e6) / (user + system)),
  }
}

async function runs(count: number, work: () => unknown): Promise<number[]> {
  const took: number[] = []
  for (let run = 0; run < count; run++) {
    const start = performance.now()
    await work()
    took.push(performance.now() - start)
  }
  return took
}
