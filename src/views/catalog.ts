import * as z from 'zod'
import { ranked, type SortKey } from './catalog-ranking.ts'
import { fieldsOption, isSelection, project, selectionNote } from './fields.ts'
import type { ItemShortening } from './shorten-result.ts'

/** The argument `sort_by`, with the names of the orders. */
export const sortOption = <const S extends readonly string[]>(sorts: S) =>
  z.enum(sorts).optional().describe('Best first.')

/** Arguments of the catalogs: which provider, in which order, and what is shown of each model. */
export const catalogOptions = <const S extends readonly string[]>(sorts: S) => ({
  provider: z.string().min(1).optional().describe('Only this provider, by code.'),
  sort_by: sortOption(sorts),
  ...fieldsOption,
})

type Model = Readonly<Record<string, unknown>>

interface CatalogEntry {
  readonly provider: unknown
  readonly models: readonly Model[]
}

/** The schema of a catalog's result; `catalog` is the schema of its providers. */
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
  /** Fields of a model that are always shown: those that a choice depends on. */
  readonly shows: readonly string[]
  /** Instead of by provider: all in this order. */
  readonly sort?: SortKey | undefined
}

/** A catalog by provider, or sorted, with the fields of each model that a choice depends on. */
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

/** All models in an order, each with the code of its provider. */
function sortedModels(
  entries: readonly CatalogEntry[],
  paths: readonly string[],
  sort: SortKey,
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

/** What is not visible in the order itself. */
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

/** A catalog that is too long keeps its first models, and every provider. */
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
