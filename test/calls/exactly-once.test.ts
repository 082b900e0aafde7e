import { expect, test } from 'vitest'
import { stressCalls } from '../../src/dev/calls-stress/stress.ts'
import { bin } from '../harness/program.ts'

// The same with ten thousand placements: npm run stress:calls.
test('calls are placed exactly once, whatever the platform does and whenever servers are killed', async () => {
  const report = await stressCalls({
    placements: 300,
    seed: 7,
    atOnce: 150,
    killEveryMs: 2000,
    mostTries: 3,
    program: bin,
  })
  expect(report.violations).toEqual([])
  expect(report.kills).toBeGreaterThanOrEqual(3)
  const { outcomes, platform } = report
  expect(outcomes['placed, rung once']).toBeGreaterThan(150)
  expect(Object.keys(platform).filter((name) => name.startsWith('POST'))).toHaveLength(20)
}, 60_000)
