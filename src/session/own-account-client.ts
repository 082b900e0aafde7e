import type { Client } from '../api/client.ts'
import { ApiError } from '../api/failure.ts'
import { rejectOnAbort } from '../api/time-limit.ts'

/**
 * A client that sends the account's id where a request says `me`: the platform's reference declares
 * some of these path parameters as UUIDs.
 */
export function ownAccountClient(client: Client, ownId: () => Promise<string>): Client {
  return {
    async call(route, request, signal) {
      const isOwn = request.params.account_id === 'me' && 'account_id' in route.params.shape
      if (!isOwn) return client.call(route, request, signal)
      const notSent = { kind: 'cancelled', maybeSent: false } as const
      const account_id = await rejectOnAbort(
        ownId(),
        signal,
        () => new ApiError(notSent, { ...route, attempts: 0 }),
      )
      return client.call(route, { ...request, params: { ...request.params, account_id } }, signal)
    },
  }
}
