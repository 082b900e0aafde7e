import { openApiDocument } from '../contract/openapi.ts'
import { allRoutes } from '../contract/routes.ts'
import { messageOf } from '../text/safe-text.ts'
import { accountHandlers, accountOfKey, isActive, reachableAccount } from './accounts.ts'
import { agentHandlers } from './agents.ts'
import { callHandlers } from './calls.ts'
import { providerHandlers } from './catalog.ts'
import { StoreError } from './database-file-error.ts'
import { type Faults, withFaults } from './faults.ts'
import { createLlmCalls, type LlmOptions } from './llm-dialogue.ts'
import { type AnyInput, type Handler, ReplyWithStatus } from './operation-handler.ts'
import { phoneNumberHandlers } from './phone-numbers.ts'
import { Problem } from './problem.ts'
import { matchRoute, readBody, validate } from './request.ts'
import { type Seed, seed } from './seed.ts'
import { sipTrunkHandlers } from './sip-trunks.ts'
import { openStore, type Store } from './store.ts'
import { templateHandlers } from './templates.ts'
import { usageHandlers } from './usage.ts'
import { answerWebCall, isForWebCall } from './web-calls/answer-web-call.ts'

export interface SandboxOptions {
  /** SQLite file; `:memory:` stores nothing on disk. */
  readonly file: string
  /** Speed of simulated calls relative to the wall clock. */
  readonly speed: number
  /** The clock, Unix ms. */
  readonly now?: () => number
  /** Data of a new file; default `small`. */
  readonly seed?: Seed
  /** Empties the file and fills it again. */
  readonly isReset?: boolean
  /** Faults of the platform, to test how a client handles them. */
  readonly faults?: Faults
  /** Language model for simulated calls; by default they follow a script. */
  readonly llm?: LlmOptions | undefined
  /** Receives unexpected errors with their stack, which replies omit. */
  readonly onBug?: (error: unknown) => void
  /** Lets people join web calls in a browser; by default the simulated caller joins at once. */
  readonly webCalls?: {
    /**
     * Origin of the pages, for a request that places a web call; `undefined` if they cannot be
     * served.
     */
    readonly pagesAt: (request: Request) => string | undefined | Promise<string | undefined>
    /** Time to wait for a person, ms. */
    readonly waitMs: number
  }
}

/** The simulated platform. */
export interface Sandbox {
  /** Answers one request of the platform's API. */
  fetch(request: Request): Promise<Response>
  close(): void
}

const handlers = new Map<string, Handler>(
  [
    accountHandlers,
    agentHandlers,
    templateHandlers,
    providerHandlers,
    phoneNumberHandlers,
    sipTrunkHandlers,
    usageHandlers,
    callHandlers,
  ]
    .flat()
    .map((handler) => [handler.route.id, handler]),
)

/** Opens the sandbox and fills a new database. Throws StoreError if the file cannot be used. */
export function openSandbox(options: SandboxOptions): Sandbox {
  const { speed, now = Date.now, faults, llm, onBug, webCalls } = options
  const store = openSeeded(options, now())
  const live = llm && createLlmCalls(store, llm, now)
  const safely =
    (work: (request: Request) => Promise<Response>) =>
    (request: Request): Promise<Response> =>
      work(request).catch((error: unknown) => {
        if (!(error instanceof Problem || error instanceof StoreError)) onBug?.(error)
        return problemOf(error).response()
      })
  const api = safely((request) => answer(request, { store, now: now(), speed, live }, webCalls))
  // The pages are not part of the platform's API: they need no key and have no simulated faults.
  const pages = safely((request) => answerWebCall(request, { store, now, live }))
  const close = () => {
    live?.stop()
    store.close()
  }
  const platform = faults ? withFaults(api, faults) : api
  return {
    fetch: (request) =>
      isForWebCall(new URL(request.url).pathname) ? pages(request) : platform(request),
    close,
  }
}

/** Opens the store. Throws StoreError also if a fixture would have to replace existing data. */
function openSeeded({ file, seed: what = 'small', isReset = false }: SandboxOptions, now: number) {
  let isFilled = false
  const fill = (empty: Store) => {
    seed(empty, now, what)
    isFilled = true
  }
  const store = openStore(file, fill, { isReset })
  if (typeof what !== 'object' || isFilled) return store
  store.close()
  throw new StoreError(
    `The sandbox file ${file} has data already. Start with --reset to replace it, or name another file with --sandbox-db.`,
  )
}

async function answer(
  request: Request,
  context: Pick<AnyInput, 'store' | 'now' | 'speed' | 'live'>,
  webCallOptions: SandboxOptions['webCalls'],
): Promise<Response> {
  const url = new URL(request.url)
  if (request.method === 'GET' && url.pathname === '/v1/openapi.json')
    return Response.json(openApiDocument(allRoutes))
  const own = accountOfKey(context.store, request.headers.get('x-api-key'))
  const { route, params } = matchRoute(request.method, url.pathname)
  const handler = handlers.get(route.id)
  if (!handler) throw new Error(`No handler for ${route.id}`)

  const { account_id } = params
  const account = account_id === undefined ? own : reachableAccount(context.store, own, account_id)
  if (route.effect !== 'reads' && !isActive(context.store, account)) {
    throw new Problem(403, 'The account is disabled and takes no changes.')
  }
  const input = validate(route, params, url.searchParams, await readBody(request))
  const webCalls =
    input.body?.type === 'web' ? await openWebCalls(request, webCallOptions) : undefined
  const handle = () => handler.handle({ ...context, ...input, own, account, webCalls })
  // All statements of a request read one snapshot while another process writes.
  const { store } = context
  const result = route.effect === 'reads' ? store.snapshot(handle) : await store.write(handle)
  return result instanceof ReplyWithStatus
    ? Response.json(result.reply, { status: result.status })
    : result === undefined
      ? new Response(null, { status: route.success })
      : Response.json(result, { status: route.success })
}

/**
 * Origin of the web calls' pages, and the time to wait for a person; `undefined` if the pages
 * cannot be served. Calling `pagesAt` may start their server.
 */
async function openWebCalls(
  request: Request,
  options: SandboxOptions['webCalls'],
): Promise<AnyInput['webCalls']> {
  const pagesAt = await options?.pagesAt(request)
  return options && pagesAt !== undefined ? { pagesAt, waitMs: options.waitMs } : undefined
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  const reason = messageOf(error)
  return error instanceof StoreError
    ? new Problem(500, reason)
    : new Problem(500, 'The sandbox failed.', { detail: reason })
}
