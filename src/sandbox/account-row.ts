import * as z from 'zod'

/** A stored account. Instants are Unix ms. */
export const AccountRow = z.object({
  id: z.string(),
  parent_id: z.string().nullable(),
  name: z.string(),
  is_active: z.int(),
  created: z.int(),
  modified: z.int(),
})
export type AccountRow = z.output<typeof AccountRow>
