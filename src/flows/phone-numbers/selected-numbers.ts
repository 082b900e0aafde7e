import * as z from 'zod'
import { badArguments } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { idsMeant } from '../../mcp/hints/names-to-ids.ts'
import { eachOnce, manyIds, type ThingsOnce } from '../many/selected-things.ts'

/** Arguments that say which numbers are meant: exactly one of them is given. */
export const numberSelection = {
  phone_number_id: z.string().min(1).optional().describe('Id, name or the number itself.'),
  phone_number_ids: manyIds.describe('Instead: many of them.'),
}

/** The numbers that the arguments mean; one may be given as the number itself. Throws Refused and ApiError. */
export async function selectedNumbers(
  { phone_number_ids: ids }: z.output<z.ZodObject<typeof numberSelection>>,
  {
    request: { params },
    restricted: session,
    signal,
  }: Pick<Run, 'request' | 'restricted' | 'signal'>,
): Promise<{ readonly numberId: string } | ThingsOnce> {
  const { phone_number_id: numberId } = params
  if ((ids === undefined) === (numberId === undefined))
    throw badArguments([
      {
        argument: 'phone_number_id',
        message: `${ids ? 'too much' : 'required'}: give exactly one of phone_number_id and phone_number_ids`,
      },
    ])
  if (numberId !== undefined) return { numberId }
  const given = ids ?? []
  const meant = await idsMeant('phone_number_id', given, { params, session, signal })
  return eachOnce(given.map((one, at) => ({ given: one, ...meant[at] })))
}
