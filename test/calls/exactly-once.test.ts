import { expect, test } from 'vitest'
import { bin } from '../harness/program.ts'
import { stressCalls } from '../labs/stress/stress.ts'

// The same with ten thousand placements: npm run stress:calls.
test('calls are placed exactly once, whatever the platform does and whenever servers are killed', async () => {
  const report = await stressCalls({
    placements: 300,
    seed: 7,
    concurrency: 150,
    killEveryMs: 2000,
    maxTries: 3,
    program: bin,
  })
  expect(report.violations).toEqual([])
  expect(report.kills).toBeGreaterThanOrEqual(3)
  const { outcomes, platform } = report
  // How many calls are placed depends on the load of the machine, but some always are.
  expect(outcomes['placed, rung once']).toBeGreaterThan(15)
  expect(Object.keys(platform).length).toBeGreaterThan(8)
}, 120_000)
