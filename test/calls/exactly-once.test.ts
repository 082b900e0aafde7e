import { expect, test } from 'vitest'
import { bin } from '../harness/program.ts'
import { stressCalls } from '../labs/stress/killed-servers.ts'

// `npm run stress:calls` runs the same test with ten thousand calls.
test('calls are placed exactly once, however the platform fails and whenever servers are killed', async () => {
  const { violations } = await stressCalls({
    placements: 300,
    seed: 7,
    concurrency: 60,
    killEvery: 15,
    maxTries: 3,
    program: bin,
    until: { placed: 16, kills: 3, faults: 9 },
  })
  expect(violations).toEqual([])
}, 600_000)
