import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/harness/build.ts'],
    // Most tests wait for a program they have started, so more of them run at once than there are
    // cores.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
})
