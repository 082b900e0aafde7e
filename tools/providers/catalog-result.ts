import * as z from 'zod'
import { valueAt } from '../../src/tool/field-changes.ts'
import {
  fieldsOption,
  isSelection,
  project,
  selectionNote,
} from '../../src/tool/lists/list-result.ts'
import type { ItemShortening } from '../../src/tool/tool.ts'

/**
 * Sort orders by name. The value is the dotted path of the compared field; a leading minus puts the
 * highest value first.
 */
type Sorts<S extends string> = Readonly<Record<S, string>>

/** The argument `sort_by`, whose values are the names in `sorts`. */
export const sortOption = <S extends string>(sorts: Sorts<S>) =>
  z
    .enum(Object.keys(sorts) as S[])
    .optional()
    .describe('Best first.')

/** Arguments of the catalog tools: provider, sort order and shown fields. */
export const catalogOptions = <S extends string>(sorts: Sorts<S>) => ({
  provider: z.string().min(1).optional().describe('Only this provider, by code.'),
  sort_by: sortOption(sorts),
  ...fieldsOption,
})

type Model = Readonly<Record<string, unknown>>

interface CatalogEntry {
  readonly provider: unknown
  readonly models: readonly Model[]
}

/** Result schema of a catalog tool. `catalog`: schema of the list of providers. */
export const catalogSchema = (catalog: z.ZodType) =>
  z.object({
    total: z.int().describe('Models in all.'),
    returned: z.int().describe('Models here.'),
    note: z.string().optional().describe('What was left out, and how to get it.'),
    providers: catalog.optional().describe('Providers with their models.'),
    models: z
      .array(z.looseObject({ rank: z.int().optional(), provider: z.unknown() }))
      .optional()
      .describe('With sort_by: all models in this order; equal rank: equal value.'),
  })

interface CatalogView {
  readonly provider?: string | undefined
  readonly fields?: readonly string[] | undefined
  /** Model fields that are always shown, because the choice of a model depends on them. */
  readonly shows: readonly string[]
  /** Sorts all models by this order, instead of grouping them by provider. */
  readonly sort?: string | undefined
}

/** A catalog by provider, or sorted. Shows the fields of each model that a choice depends on. */
export function catalogOf(
  entries: readonly CatalogEntry[],
  { provider, fields = [], shows, sort }: CatalogView,
): Record<string, unknown> {
  const chosen = entries.filter(
    (entry) => provider === undefined || codeOf(entry.provider) === provider,
  )
  const paths = [...shows, ...fields]
  const models = chosen.flatMap((entry) => entry.models)
  const codes = entries.map((entry) => codeOf(entry.provider)).join(', ')
  const sorted = sort && sortedModels(chosen, paths, sort)
  const notes = [
    chosen.length === 0 && `No provider ${provider}; there are ${codes}.`,
    sorted && sortNote(sorted),
    isSelection(models, paths) && selectionNote,
  ].filter(Boolean)
  return {
    total: models.length,
    returned: models.length,
    ...(notes.length > 0 && { note: notes.join(' ') }),
    ...(sorted ? { models: sorted } : { providers: chosen.map((one) => viewOf(one, paths)) }),
  }
}

const viewOf = (entry: CatalogEntry, paths: readonly string[]) => ({
  ...entry,
  models: entry.models.map((model) => project(model, paths)),
})

interface SortedModel {
  readonly rank?: number
  readonly provider: unknown
}

/** All models in a sort order, each with its provider's code. */
function sortedModels(
  entries: readonly CatalogEntry[],
  paths: readonly string[],
  sort: string,
): SortedModel[] {
  const providers = new Map(
    entries.flatMap(({ provider, models }) => models.map((model) => [model, provider] as const)),
  )
  return ranked([...providers.keys()], sort).map(({ model, rank }) => ({
    ...(rank !== undefined && { rank }),
    provider: codeOf(providers.get(model)),
    ...project(model, paths),
  }))
}

/** Note about ties, and about models without a value to sort by. */
function sortNote(models: readonly SortedModel[]): string | undefined {
  const without = models.filter(({ rank }) => rank === undefined).length
  const ties = new Set(models.flatMap(({ rank }) => rank ?? [])).size < models.length - without
  const notes = [
    ties && 'Equal rank: equal value.',
    without > 0 && `Last ${without === 1 ? 'is one' : `are ${without}`} without a value.`,
  ]
  return notes.filter(Boolean).join(' ') || undefined
}

const codeOf = (provider: unknown): unknown =>
  typeof provider === 'object' && provider !== null && 'code' in provider ? provider.code : provider

const countOf = (providers: readonly CatalogEntry[]) =>
  providers.reduce((count, { models }) => count + models.length, 0)

/** Shortens a catalog to its first models. Keeps every provider. */
export const shortenCatalog: ItemShortening = {
  count: ({ providers, models }) =>
    Array.isArray(models) ? models.length : countOf(providers as CatalogEntry[]),
  keep(result, kept) {
    const note = [result.note, 'Shortened: ask for one provider at a time, or for fewer fields.']
    return {
      ...result,
      returned: kept,
      note: note.filter(Boolean).join(' '),
      ...(Array.isArray(result.models)
        ? { models: result.models.slice(0, kept) }
        : { providers: firstModels(result.providers as CatalogEntry[], kept) }),
    }
  },
}

function firstModels(providers: readonly CatalogEntry[], kept: number): CatalogEntry[] {
  let left = kept
  return providers.map((entry) => {
    const models = entry.models.slice(0, Math.max(0, left))
    left -= entry.models.length
    return { ...entry, models }
  })
}

/**
 * The value to sort by: a number, the length of a list, or a text in lower case; `undefined`: not
 * comparable.
 */
function comparable(value: unknown): number | string | undefined {
  if (Array.isArray(value)) return value.length
  if (typeof value === 'string') return value.toLowerCase()
  return typeof value === 'number' ? value : undefined
}

/** A model and its rank. Equal values share a rank; a model without a value has none. */
interface RankedModel<T> {
  readonly model: T
  readonly rank: number | undefined
}

/** Sorts models. Those without a value come last, in their original order. */
export function ranked<T extends Model>(models: readonly T[], sort: string): RankedModel<T>[] {
  const [sign, path] = sort.startsWith('-') ? [-1, sort.slice(1)] : [1, sort]
  const valued = models.map((model) => ({ model, value: comparable(valueAt(model, path)) }))
  const known = valued.filter(({ value }) => value !== undefined)
  known.sort(({ value: a = 0 }, { value: b = 0 }) => (a < b ? -sign : a > b ? sign : 0))
  let rank = 0
  return [
    ...known.map(({ model, value }, i) => {
      if (i === 0 || value !== known[i - 1]?.value) rank = i + 1
      return { model, rank }
    }),
    ...valued
      .filter(({ value }) => value === undefined)
      .map(({ model }) => ({ model, rank: undefined })),
  ]
}
