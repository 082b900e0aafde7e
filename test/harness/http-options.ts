import type { HttpOptions, HttpServing } from '../../src/server/transports/http.ts'

const unlimited = { inAll: 0, perKey: 0, perAddress: 0 }

/** Options of an HTTP server on loopback without access control or limits. */
export const openHttpOptions = {
  host: '127.0.0.1',
  isLoopback: true,
  allowedHosts: [],
  allowedOrigins: [],
  ownKey: { usedBy: 'all' },
  drainMs: 1000,
  limits: {
    requests: unlimited,
    rate: unlimited,
    waits: unlimited,
    streams: unlimited,
    watchedPerAddress: 0,
    clientMs: 30_000,
  },
} as const satisfies Partial<HttpOptions>

/** Functions of a service that is ready, accepts every key, and watches nothing. */
export const readyService = {
  checkKey: async () => undefined,
  watch: () => () => undefined,
  readiness: async () => ({ platform: 'ok', state: 'ok' }),
} as const satisfies Partial<HttpServing>
