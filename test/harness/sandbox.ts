import type { LlmOptions } from '../../src/sandbox/llm-dialogue.ts'
import { openSandbox } from '../../src/sandbox/sandbox.ts'
import { type Seed, sandboxKeys, seedIds } from '../../src/sandbox/seed.ts'

/** A sandbox in this process with a settable clock, and a REST client for it. */
export function startSandbox({
  speed = 1,
  file = ':memory:',
  webWaitMs,
  llm,
  seed,
  isReset = false,
}: {
  speed?: number
  file?: string
  /** Time that a web call waits for a person, ms; absent: nobody can join. */
  webWaitMs?: number
  llm?: LlmOptions
  seed?: Seed
  isReset?: boolean
} = {}) {
  let now = Date.UTC(2026, 10, 21, 12)
  const sandbox = openSandbox({
    file,
    speed,
    now: () => now,
    isReset,
    ...(seed && { seed }),
    ...(llm && { llm }),
    ...(webWaitMs !== undefined && {
      webCalls: { pagesAt: () => 'http://sandbox', waitMs: webWaitMs },
    }),
  })

  const send = async (
    method: string,
    path: string,
    body?: unknown,
    { key = sandboxKeys.main as string | null } = {},
  ) => {
    const response = await sandbox.fetch(
      new Request(`http://sandbox/v1/${path}`, {
        method,
        headers: key === null ? {} : { 'x-api-key': key },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    const { status, headers } = response
    // biome-ignore lint/suspicious/noExplicitAny: a reply is looked into, field by field, by each test
    return { status, headers, body: (text ? JSON.parse(text) : null) as any }
  }

  return {
    fetch: sandbox.fetch,
    send,
    get: (path: string, key?: string) => send('GET', path, undefined, key ? { key } : {}),
    /** Advances the clock, s of wall-clock time. */
    wait: (seconds: number) => {
      now += seconds * 1000
    },
    now: () => now,
    [Symbol.dispose]: () => sandbox.close(),
  }
}

export { sandboxKeys, seedIds }
