import { expect, test } from 'vitest'
import { routes } from '../../../src/contract/routes.ts'
import type { Client } from '../../../src/platform/client.ts'
import { ownAccountId } from '../../../src/platform/sessions/account.ts'
import { restrictedSession } from '../../../src/platform/sessions/restricted-session.ts'
import { WatchLimitError } from '../../../src/platform/sessions/watched-replies.ts'
import { replyCaches, sessionOf } from '../../harness/session.ts'

const client: Client = { call: async () => ({ id: 'own', name: 'Own' }) as never }
const ownAccount = [routes.accounts.current, { params: {}, query: {} }, 'account'] as const
const voices = [routes.providers.voices, { params: {}, query: {} }, 'catalog'] as const
const ignore = () => undefined

/**
 * A session with a pinned account. Its API key already watches the only reply that it may watch.
 */
function watchingOne() {
  const cache = replyCaches({ inAll: 1, perKey: 1 })('a key', client)
  cache.watch(...voices, ignore)
  const session = sessionOf(client, { cache, pinnedAccount: 'below' })
  const tools = [{ name: 'get_current_account', route: routes.accounts.current }]
  return { cache, restricted: restrictedSession(session, tools) }
}

test('a watch above the limit is refused if the API key’s own account is known', async () => {
  const { cache, restricted } = watchingOne()
  await ownAccountId({ cache })
  expect(() => restricted.cache.watch(...ownAccount, ignore)).toThrow(WatchLimitError)
})

// An unhandled rejection would end the program, and fails the test run.
test('a watch above the limit does nothing if the API key’s own account is not known yet', async () => {
  const { cache, restricted } = watchingOne()
  const stop = restricted.cache.watch(...ownAccount, ignore)
  await ownAccountId({ cache })
  await new Promise((resolve) => setImmediate(resolve))
  stop()
})
