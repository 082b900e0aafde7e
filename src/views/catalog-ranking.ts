type Model = Readonly<Record<string, unknown>>

/** By what models can be sorted: the value of one, and whether the highest comes first. */
export interface SortKey {
  readonly valueIn: (model: Model) => number | string | undefined
  readonly order: 'lowest first' | 'highest first'
}

type SortKeys<S extends readonly string[]> = Readonly<Record<S[number], SortKey>>

const field = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((inner, name) => Object(inner)[name], value)

const number = (value: unknown) => (typeof value === 'number' ? value : undefined)
const text = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : undefined)

const byName: SortKey = { valueIn: ({ name }) => text(name), order: 'lowest first' }

export const modelSorts = ['price', 'intelligence', 'latency', 'name'] as const

/** Language models: the cheapest, the cleverest, the fastest first. */
export const modelSortKeys: SortKeys<typeof modelSorts> = {
  price: {
    valueIn: (model) => number(field(model, 'pricing', 'additional_cost_per_minute')),
    order: 'lowest first',
  },
  intelligence: {
    valueIn: (model) => number(model.intelligence_rating),
    order: 'highest first',
  },
  latency: {
    valueIn: (model) => number(field(model, 'latency_range', 'min_ms')),
    order: 'lowest first',
  },
  name: byName,
}

export const transcriberSorts = ['languages', 'name'] as const

/** Transcribers: those with the most languages first. */
export const transcriberSortKeys: SortKeys<typeof transcriberSorts> = {
  languages: {
    valueIn: ({ supported_languages: languages }) =>
      Array.isArray(languages) ? languages.length : undefined,
    order: 'highest first',
  },
  name: byName,
}

export const voiceSorts = ['name', 'language', 'gender'] as const

/** Voices, as far as they have these fields: their shape is not published. */
export const voiceSortKeys: SortKeys<typeof voiceSorts> = {
  name: byName,
  language: { valueIn: ({ language }) => text(language), order: 'lowest first' },
  gender: { valueIn: ({ gender }) => text(gender), order: 'lowest first' },
}

/** A model and its place; models with equal values have the same one, those without a value none. */
export interface RankedModel<T> {
  readonly model: T
  readonly rank: number | undefined
}

/** The models in this order; those without a value come last, in their former order. */
export function ranked<T extends Model>(
  models: readonly T[],
  { valueIn, order }: SortKey,
): RankedModel<T>[] {
  const sign = order === 'lowest first' ? 1 : -1
  const valued = models.map((model) => ({ model, value: valueIn(model) }))
  const known = valued.filter(({ value }) => value !== undefined)
  known.sort(({ value: a = 0 }, { value: b = 0 }) => (a < b ? -sign : a > b ? sign : 0))
  let rank = 0
  return [
    ...known.map(({ model, value }, at) => {
      if (at === 0 || value !== known[at - 1]?.value) rank = at + 1
      return { model, rank }
    }),
    ...valued
      .filter(({ value }) => value === undefined)
      .map(({ model }) => ({ model, rank: undefined })),
  ]
}
