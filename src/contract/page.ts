import * as z from 'zod'

/** How many items a list returns when it is not told [R]. */
export const defaultPageLimit = 100

/** Offset pagination of every list: `limit` ≥ 1 [B], default 100 [R]; `offset` ≥ 0, default 0. */
export const pageQuery = {
  limit: z
    .int()
    .min(1)
    .optional()
    .describe('Most items to return.')
    .meta({ default: defaultPageLimit }),
  offset: z.int().min(0).optional().describe('Items to skip.').meta({ default: 0 }),
}

/** One page of a list: `count` is the total that match, not the number returned [B]. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.looseObject({
    count: z.int().describe('How many match in all, on every page together.'),
    items: z.array(item).describe('This page.'),
  })
