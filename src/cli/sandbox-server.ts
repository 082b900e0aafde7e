import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import * as z from 'zod'
import { Faults } from '../sandbox/faults.ts'
import { Fixture } from '../sandbox/fixture/fixture.ts'
import { Problem } from '../sandbox/problem.ts'
import { openSandbox } from '../sandbox/sandbox.ts'
import { hostCheck, type Listening, listen } from '../server/transports/listen.ts'
import { messageOf, safeLine, safeLines } from '../text/safe-text.ts'
import type { ListenConfig } from './config/http.ts'
import { isLoopback } from './config/platform.ts'
import type { SandboxConfig } from './config/sandbox.ts'
import { log, logDefect } from './observability.ts'

export interface SandboxServerConfig extends ListenConfig {
  readonly sandbox: SandboxConfig
  readonly faultsFile: string | undefined
  /** JSON file with data for the sandbox; `undefined`: the built-in data. */
  readonly fixtureFile: string | undefined
  /** If true, existing data is removed first. */
  readonly isReset: boolean
}

/**
 * Serves the sandbox as the platform's REST API, and logs each answer. Throws StoreError and
 * ListenError, and Error for an invalid faults file or fixture.
 */
export async function startSandboxServer(config: SandboxServerConfig): Promise<Listening> {
  const { faultsFile, fixtureFile, isReset, allowedHosts } = config
  const sandbox = openSandbox({
    ...config.sandbox,
    onBug: logDefect,
    isReset,
    ...(fixtureFile && { seed: readDescription('fixture', fixtureFile, Fixture) }),
    webCalls: { pagesAt: ({ url }) => new URL(url).origin, waitMs: config.sandbox.webWaitMs },
    ...(faultsFile && { faults: readDescription('faults file', faultsFile, Faults) }),
  })
  const { host } = config.listen
  const refusalOfHost = hostCheck({ host, isLoopback: isLoopback(host), allowedHosts })
  const listener = getRequestListener(async (request, env) => {
    const { incoming, outgoing } = env as HttpBindings
    const started = performance.now()
    const refusal = refusalOfHost(incoming.headers.host)
    const response = refusal ? new Problem(403, refusal).response() : await sandbox.fetch(request)
    log(answerLine(request, response, performance.now() - started), 'info')
    // The rest of the body is not read, so the connection cannot be used for another request.
    if (!incoming.complete) outgoing.setHeader('connection', 'close')
    if (response.type !== 'error') return response
    // Response.error(): the sandbox simulates a broken connection.
    outgoing.destroy()
    return RESPONSE_ALREADY_SENT
  })
  const listening = await listen(createServer(listener), config.listen)
  return {
    ...listening,
    async close() {
      await listening.close()
      sandbox.close()
    },
  }
}

/**
 * Log line of an answer: method, path, status and time. The query is omitted, because it may
 * contain telephone numbers. The path of a web call page is omitted, because it contains the join
 * secret.
 */
function answerLine({ method, url }: Request, response: Response, ms: number): string {
  const status = response.type === 'error' ? 'broken off' : response.status
  const path = URL.parse(url)?.pathname.replace(/(?<=^\/web-calls\/)[^/]+/, '…')
  return `${method} ${path} ${status}, ${ms.toFixed(1)} ms`
}

/** Reads a JSON file of the user. Errors name the position in the file. */
function readDescription<T>(what: string, file: string, schema: z.ZodType<T>): T {
  try {
    const parsed = schema.safeParse(JSON.parse(readFileSync(file, 'utf8')))
    if (parsed.success) return parsed.data
    throw new Error(z.prettifyError(parsed.error))
  } catch (error) {
    throw new Error(
      `The ${what} ${safeLine(file)} cannot be used: ${safeLines(messageOf(error).split('\n'))}`,
    )
  }
}
