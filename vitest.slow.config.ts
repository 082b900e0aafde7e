import { defineConfig } from 'vitest/config'
import config, { clones, slow } from './vitest.config.ts'

/** Tests that run together; the groups run one after the other. */
const group = (name: string, include: string[], groupOrder: number) => ({
  test: { ...config.test, name, include, exclude: [], sequence: { groupOrder } },
})

/** `npm run test:slow`: the tests that `npm test` leaves out. */
export default defineConfig({
  test: { projects: [group('slow', slow, 0), group('clone', clones, 1)] },
})
