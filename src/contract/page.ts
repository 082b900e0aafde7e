import * as z from 'zod'
import { withDefault } from './field.ts'

/** How many items a list returns without `limit` [R]. */
export const defaultPageLimit = 100

/** Offset pagination of every list: `limit` ≥ 1 [B], default 100 [R]; `offset` ≥ 0, default 0. */
export const pageQuery = {
  limit: withDefault(z.int().min(1).describe('Most items.'), defaultPageLimit),
  offset: withDefault(z.int().min(0).describe('Items to skip.'), 0),
}

/**
 * One page of a list. `count` is how many match in all, not how many are returned [B]. It is
 * optional, because for agents and conversations it is only [R].
 */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.looseObject({
    count: z.int().optional().describe('How many match in all, on every page together.'),
    items: z.array(item).describe('This page.'),
  })
