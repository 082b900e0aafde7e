import { defineConfig } from 'vitest/config'
import config, { clones, real, slow } from './vitest.config.ts'

/** Tests that run together; the groups run one after the other. */
const group = (name: string, include: string[], groupOrder: number, setup: string[] = []) => ({
  test: {
    ...config.test,
    name,
    include,
    exclude: [],
    globalSetup: ['test/harness/build.ts', ...setup],
    sequence: { groupOrder },
  },
})

/** `npm run test:slow`: the tests that `npm test` leaves out. */
export default defineConfig({
  test: {
    projects: [
      group('slow', slow, 0),
      group('real', real, 1, ['test/real/install.ts']),
      group('clone', clones, 2),
    ],
  },
})
