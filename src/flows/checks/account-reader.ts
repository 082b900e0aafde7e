import { ApiError } from '../../api/failure.ts'
import type { ReplyOf, Route, RouteRequest } from '../../contract/route.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import type { CacheTime } from '../../session/reply-cache.ts'

/** Reads the platform on one account, which it adds to each request. Throws ApiError. */
export interface AccountReader {
  readonly account: string
  call<R extends Route>(route: R, request: Partial<RouteRequest>): Promise<ReplyOf<R>>
}

/** The same with replies that may be some minutes old, or read now for the cache. */
export interface CachedAccountReader {
  cached<R extends Route>(
    route: R,
    request: Partial<RouteRequest>,
    time: CacheTime,
  ): Promise<ReplyOf<R>>
  refreshed<R extends Route>(
    route: R,
    request: Partial<RouteRequest>,
    time: CacheTime,
  ): Promise<ReplyOf<R>>
}

/** A reader for the account of a tool call. */
export function accountReader({
  request,
  session,
  signal,
}: Pick<Run, 'request' | 'session' | 'signal'>): AccountReader & CachedAccountReader {
  const account = accountIn(request)
  const { client, cache } = session
  const requestOf = ({ params, query = {}, ...rest }: Partial<RouteRequest>): RouteRequest => ({
    ...rest,
    query,
    params: { account_id: account, ...params },
  })
  return {
    account,
    call: (route, given) => client.call(route, requestOf(given), signal),
    cached: (route, given, time) => cache.read(route, requestOf(given), time),
    refreshed: (route, given, time) => cache.refresh(route, requestOf(given), time),
  }
}

/** `undefined` if the platform answers that the thing does not exist. Throws other ApiErrors. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    const isMissing =
      error instanceof ApiError &&
      (error.failure.kind === 'bad_parameter' ||
        (error.failure.kind === 'rejected' && error.failure.status === 404))
    if (isMissing) return undefined
    throw error
  }
}
