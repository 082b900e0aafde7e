import * as z from 'zod'
import { fieldsOption, isSelection, project, selectionNote } from './fields.ts'
import type { ItemShortening } from './shorten-result.ts'

/** Arguments of the catalogs: which provider, and what is shown of each model. */
export const catalogOptions = {
  provider: z.string().min(1).optional().describe('Only this provider, by code.'),
  ...fieldsOption,
}
type CatalogOptions = z.output<z.ZodObject<typeof catalogOptions>>

interface CatalogEntry {
  readonly provider: unknown
  readonly models: readonly Readonly<Record<string, unknown>>[]
}

/** The schema of a catalog's result; `catalog` is the schema of its providers. */
export const catalogSchema = (catalog: z.ZodType) =>
  z.object({
    total: z.int().describe('Models in all.'),
    returned: z.int().describe('Models here.'),
    note: z.string().optional().describe('What was left out, and how to get it.'),
    providers: catalog.describe('Providers with their models.'),
  })

/** A catalog by provider, with the fields of each model that a choice depends on. */
export function catalogOf(
  entries: readonly CatalogEntry[],
  { provider, fields = [] }: CatalogOptions,
  shows: readonly string[],
): Record<string, unknown> {
  const chosen = entries.filter(
    (entry) => provider === undefined || codeOf(entry.provider) === provider,
  )
  const providers = chosen.map((entry) => ({
    ...entry,
    models: entry.models.map((model) => project(model, [...shows, ...fields])),
  }))
  const total = countOf(providers)
  const isPart = isSelection(
    chosen.flatMap(({ models }) => models),
    [...shows, ...fields],
  )
  const codes = entries.map((entry) => codeOf(entry.provider)).join(', ')
  return {
    total,
    returned: total,
    ...(providers.length === 0 && { note: `No provider ${provider}; there are ${codes}.` }),
    ...(isPart && { note: selectionNote }),
    providers,
  }
}

const codeOf = (provider: unknown): unknown =>
  typeof provider === 'object' && provider !== null && 'code' in provider ? provider.code : provider

const countOf = (providers: readonly CatalogEntry[]) =>
  providers.reduce((count, { models }) => count + models.length, 0)

/** A catalog that is too long keeps its first models, and every provider. */
export const shortenCatalog: ItemShortening = {
  count: ({ providers }) => countOf(providers as CatalogEntry[]),
  keep(result, kept) {
    let left = kept
    const providers = (result.providers as CatalogEntry[]).map((entry) => {
      const models = entry.models.slice(0, Math.max(0, left))
      left -= entry.models.length
      return { ...entry, models }
    })
    return {
      ...result,
      returned: kept,
      note: [result.note, 'Shortened: ask for one provider at a time, or for fewer fields.']
        .filter(Boolean)
        .join(' '),
      providers,
    }
  },
}
