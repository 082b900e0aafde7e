import type { JsonSchema } from '../contract/json-schema.ts'

/** How much a listing says of objects within the arguments. */
export interface Listing {
  /** Objects whose fields are told in one line: `web: 0..1 = 0.5, allow_adjustment: boolean = true`. */
  readonly inOneLine?: readonly string[]
  /** Said of all objects instead of their fields: another tool lists them. */
  readonly seeElsewhere?: string
}

/**
 * An input schema as a model is shown it, in as few tokens as say the same. Arguments are checked
 * against the whole schema either way, and its errors name what is known. `pinned` leaves
 * `account_id` out: it is not the caller's to choose.
 */
export function listedSchema(
  schema: JsonSchema,
  account: 'any' | 'pinned',
  listing: Listing,
): JsonSchema {
  const { account_id, ...properties } = schema.properties ?? {}
  const offersAccount = account === 'any' && account_id !== undefined
  return {
    ...schema,
    properties: {
      ...listedProperties(properties, listing),
      // The same in every tool: the instructions say what it is.
      ...(offersAccount && { account_id: { type: 'string' } }),
    },
  }
}

const listedProperties = (properties: Record<string, unknown>, listing: Listing) =>
  Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, listedProperty(name, field, listing)]),
  ) as NonNullable<JsonSchema['properties']>

function listedProperty(name: string, schema: unknown, listing: Listing): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  // That a text may not be empty, a count not be negative, an object may hold more, and what
  // E.164 looks like, goes without saying.
  const {
    additionalProperties: _,
    minLength: __,
    pattern: ___,
    ...said
  }: JsonSchema = { ...schema }
  const { properties, items, ...rest } = nullable(said)
  if (rest.type === 'integer' && (rest.minimum ?? 2) <= 1) delete rest.minimum
  if (name === 'offset') delete rest.default
  if (properties && listing.seeElsewhere) {
    return { type: 'object', description: listing.seeElsewhere }
  }
  if (properties && listing.inOneLine?.includes(name)) {
    return { type: 'object', description: signature(properties) }
  }
  return {
    ...rest,
    ...(properties && { properties: listedProperties(properties, listing) }),
    ...(items !== undefined && { items: listedProperty(name, items, listing) }),
  }
}

/** The fields of an object in the way TypeScript writes them, with bounds and defaults. */
function signature(properties: Record<string, unknown>): string {
  return Object.entries(properties)
    .map(([name, field]) => {
      const {
        type,
        enum: values,
        minimum,
        maximum,
        default: usual,
      } = nullable({ ...(field as JsonSchema) })
      const least = minimum === undefined ? undefined : `${minimum}..${maximum ?? ''}`
      const types = [values?.filter((value) => value !== null) ?? least ?? [type].flat()[0]].flat()
      const isNullable = Array.isArray(type) && type.includes('null')
      const shown = [...types, ...(isNullable ? ['null'] : [])].join('|')
      return `${name}: ${shown}${usual === undefined ? '' : ` = ${usual}`}`
    })
    .join(', ')
}

/** A choice between something and null, as one type that may be null. */
function nullable({ anyOf, ...rest }: JsonSchema): JsonSchema {
  if (anyOf === undefined) return rest
  const [something, nothing, ...more] = anyOf
  if (typeof something !== 'object' || typeof nothing !== 'object') return { ...rest, anyOf }
  if (nothing.type !== 'null' || more.length > 0) return { ...rest, anyOf }
  const { type, enum: values, ...bounds } = something
  return {
    ...rest,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(values && { enum: [...values, null] }),
    ...bounds,
  }
}
