import * as z from 'zod'

const Calls = z.object({ items: z.array(z.looseObject({ external_id: z.string().nullable() })) })

/** External ids of the newest calls that begin with `start`, sorted. */
export async function externalIds(url: string, start: string): Promise<string[]> {
  const headers = { 'X-API-Key': 'sandbox-key' }
  const reply = await fetch(`${url}/v1/accounts/me/calls?limit=30`, { headers })
  const ids = Calls.parse(await reply.json()).items.map(({ external_id }) => external_id ?? '')
  return ids.filter((id) => id.startsWith(start)).sort()
}
