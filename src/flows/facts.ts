import { ApiError } from '../api/failure.ts'
import { routes } from '../contract/routes.ts'
import type { Run } from '../mcp/tool.ts'

/** Such as `Support line (3f0c…)`: a name for people, and the id that is meant. */
export const named = (name: string | null | undefined, id: string) =>
  name ? `${name} (${id})` : id

/** The account that something is done under, as a person who is asked recognises it. */
export async function accountFact({
  request,
  session,
}: Pick<Run, 'request' | 'session'>): Promise<string> {
  const { account_id = 'me' } = request.params
  const own = await ownAccount(session)
  if (own && (account_id === 'me' || account_id === own.id)) return named(own.name, own.id)
  return account_id === 'me' ? "the API key's own account" : account_id
}

/** Not to know its name is no reason not to ask. */
async function ownAccount({ memory }: Run['session']) {
  try {
    return await memory.read(routes.accounts.current, { params: {}, query: {} }, 'account')
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
