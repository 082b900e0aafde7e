import { defineConfig } from 'vitest/config'
import config, { browser, clones, examples, real, slow, traces } from './vitest.config.ts'

/** Tests that run together; the groups run one after the other. */
const group = (
  name: string,
  include: string[],
  groupOrder: number,
  { setup = [], ...more }: { setup?: string[]; fileParallelism?: boolean } = {},
) => ({
  test: {
    ...config.test,
    name,
    include,
    exclude: [],
    globalSetup: ['test/harness/build.ts', ...setup],
    sequence: { groupOrder },
    ...more,
  },
})

/** `npm run test:slow`: the tests that `npm test` leaves out. */
export default defineConfig({
  test: {
    projects: [
      group('slow', slow, 0),
      // One after the other: each starts several servers.
      group('real', real, 1, { setup: ['test/real/install.ts'], fileParallelism: false }),
      group('traces', traces, 0, { setup: ['test/traces/install.ts'] }),
      group('browser', browser, 2, { setup: ['test/browser/install.ts'], fileParallelism: false }),
      group('examples', examples, 3, { setup: ['test/examples/install.ts'] }),
      group('clone', clones, 4),
    ],
  },
})
