import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import * as z from 'zod'

const program = fileURLToPath(new URL('hostile-run.ts', import.meta.url))

const Line = z.union([
  z.object({ name: z.string(), times: z.number(), ms: z.number(), ended: z.string() }),
  z.object({ plain: z.number(), peakMb: z.number() }),
])

/**
 * Limit of CPU time, as a multiple of a plain loop's. An operation that counts no steps takes
 * hundreds of times as long or more.
 */
const maxTimes = 12

/**
 * The same limit for the sandbox's check of a template. The most expensive template takes 1.3 times
 * as long, and 3 times while all cores are busy.
 */
const maxCheckTimes = 10

// A template that needs more than this heap ends the process with an error.
test('no operation costs more time or memory than is paid for', { timeout: 120_000 }, async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--max-old-space-size=192', program, '5', '89'],
    { maxBuffer: 64 * 1024 * 1024 },
  )
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)))
  expect(lines.length).toBeGreaterThan(90)
  const max = (name: string) => (name.startsWith('check of ') ? maxCheckTimes : maxTimes)
  expect(lines.filter((line) => 'times' in line && line.times > max(line.name))).toEqual([])
})
