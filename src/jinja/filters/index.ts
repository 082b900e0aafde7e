import type { Callee } from '../python/runtime.ts'
import { dumpFilters } from './dump.ts'
import { htmlFilters } from './html.ts'
import { numberFilters } from './numbers.ts'
import { orderingFilters } from './ordering.ts'
import { selectionFilters, sequenceFilters } from './sequences.ts'
import { textFilters } from './text.ts'

/** Jinja2's builtin filters, and the platform's `datetime`. */
export const filters: ReadonlyMap<string, Callee> = new Map([
  ...textFilters,
  ...numberFilters,
  ...sequenceFilters,
  ...selectionFilters,
  ...orderingFilters,
  ...htmlFilters,
  ...dumpFilters,
])

export const filterNames: ReadonlySet<string> = new Set(filters.keys())
