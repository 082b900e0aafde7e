import * as z from 'zod'
import { badArguments } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { idsMeant } from '../../mcp/hints/names-to-ids.ts'
import { canonicalId } from '../../text/canonical-id.ts'
import { mostThings } from '../many/for-each.ts'

/** Arguments that say which numbers are meant: exactly one of them is given. */
export const numberSelection = {
  phone_number_id: z.string().min(1).optional().describe('Id, name or the number itself.'),
  phone_number_ids: z
    .array(z.string().min(1))
    .min(1)
    .max(mostThings)
    .optional()
    .describe('Instead: many of them.'),
}

/** One of many numbers that are meant, or why it is not known which one is. */
export interface SelectedNumber {
  /** As it was given: an id, a name, or the number itself. */
  readonly given: string
  readonly id?: string
  readonly problem?: string
}

interface SelectedMany {
  readonly numbers: readonly SelectedNumber[]
  /** What means a number that was named before: it is not done twice. */
  readonly repeated: readonly string[]
}

/** The numbers that the arguments mean. Throws Refused and ApiError. */
export async function selectedNumbers(
  { phone_number_ids: ids }: z.output<z.ZodObject<typeof numberSelection>>,
  {
    request: { params },
    restricted: session,
    signal,
  }: Pick<Run, 'request' | 'restricted' | 'signal'>,
): Promise<{ readonly numberId: string } | SelectedMany> {
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
  const numbers = given.map((one, at): SelectedNumber => ({ given: one, ...meant[at] }))
  const keys = numbers.map(({ id, given: name }) => canonicalId(id ?? name))
  const isFirst = (_: SelectedNumber, at: number) => keys.indexOf(keys[at] ?? '') === at
  return {
    numbers: numbers.filter(isFirst),
    repeated: numbers.filter((one, at) => !isFirst(one, at)).map((one) => one.given),
  }
}
