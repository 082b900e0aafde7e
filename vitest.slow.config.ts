import { defineConfig } from 'vitest/config'
import config, { slow } from './vitest.config.ts'

/** `npm run test:slow`: the tests that `npm test` leaves out. */
export default defineConfig({ test: { ...config.test, include: slow, exclude: [] } })
