import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { scriptedPlans } from './scripted-histories.ts'

const run = promisify(execFile)
const simulate = (...flags: string[]) =>
  run(process.execPath, ['test/labs/simulate/main.ts', ...flags])

const Report = z.object({
  histories: z.int(),
  rung: z.int(),
  answers: z.record(z.string(), z.int()),
  failed: z.array(z.unknown()),
  scripts: z.array(z.string()),
})

// `npm run check` runs a hundred thousand: `npm run simulate -- --seeds 100000`.
test('in simulated histories each call is placed once, limits hold and no permit is left', async () => {
  const { stdout } = await simulate('--seeds', '200', '--json')
  const report = Report.parse(JSON.parse(stdout))
  expect(report).toMatchObject({ histories: 200, failed: [], scripts: [] })
  expect(scriptedPlans.size).toBeGreaterThan(10)
  expect(report.rung).toBeGreaterThan(200)
  // Every kind of answer occurs, so faults were simulated.
  expect(Object.keys(report.answers).toSorted()).toEqual([
    'dead',
    'placed',
    'refused',
    'state failed',
    'token used',
    'unknown',
  ])
}, 60_000)

test('a run that stops at the time limit reports it', async () => {
  const { stdout } = await simulate('--seeds', '100000', '--minutes', '0.002')
  expect(stdout).toMatch(/^\d+ histories of 100000 \(time was up\) and /m)
}, 60_000)

test('equal seeds give equal histories', async () => {
  const first = await simulate('--from', '23', '--seeds', '3', '--trace')
  const second = await simulate('--from', '23', '--seeds', '3', '--trace')
  expect(first.stdout).toBe(second.stdout)
  expect(first.stdout).toContain('the clock is set by -3600000 ms')
}, 60_000)
