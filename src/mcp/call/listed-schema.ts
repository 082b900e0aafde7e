import type { JsonSchema } from '../../contract/json-schema.ts'

/** How much a listing says of the fields of objects within the arguments. */
export interface Listing {
  /** Objects whose fields are listed without descriptions: their names and bounds say enough. */
  readonly undescribed?: readonly string[]
  /** Arguments listed by type alone, and so are the fields in them: another tool describes them. */
  readonly typesOnly?: readonly string[]
}

/** How much is said of one field. */
type Detail = 'all' | 'undescribed' | 'type'

/**
 * An input schema as a model is shown it, in few tokens. Arguments are checked against the whole
 * schema either way, and its errors name what is known. `pinned` leaves `account_id` out: it is not
 * the caller's to choose.
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
      ...mapFields(properties, (name, field) =>
        listedField(name, field, listing, listing.typesOnly?.includes(name) ? 'type' : 'all'),
      ),
      // The same in every tool: the instructions say what it is.
      ...(offersAccount && { account_id: { type: 'string' } }),
    },
  }
}

const mapFields = (
  fields: Record<string, unknown>,
  change: (name: string, field: JsonSchema) => JsonSchema,
): NonNullable<JsonSchema['properties']> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, change(name, { ...Object(field) })]),
  )

function listedField(
  name: string,
  schema: JsonSchema,
  listing: Listing,
  detail: Detail,
): JsonSchema {
  const within = listing.undescribed?.includes(name) ? 'undescribed' : detail
  const { properties, items, ...facts } = schema
  return {
    ...said(facts, detail),
    ...(properties && {
      properties: mapFields(properties, (inner, field) =>
        listedField(inner, field, listing, within),
      ),
    }),
    ...(items !== undefined && {
      items: listedField(name, withoutLength({ ...Object(items) }), listing, detail),
    }),
  }
}

const withoutLength = ({ maxLength: _, ...facts }: JsonSchema): JsonSchema => facts

/**
 * That a text may not be empty and is empty by default, a number not be negative and 0 by default,
 * how long a list may be, and what E.164 is, needs no words.
 */
function said(
  { minLength: _, pattern: __, minItems: ___, maxItems: ____, ...facts }: JsonSchema,
  detail: Detail,
): JsonSchema {
  // A converter for strict function calling closes an object that does not say that it is open.
  if (facts.additionalProperties !== true) delete facts.additionalProperties
  if (detail === 'type') {
    const { type, additionalProperties } = facts
    return { ...(type && { type }), ...(additionalProperties && { additionalProperties }) }
  }
  if (facts.type === 'integer' && (facts.minimum ?? 2) <= 1) delete facts.minimum
  if (facts.minimum === 0 && facts.maximum === undefined) delete facts.minimum
  if (facts.default === 0 || facts.default === '') delete facts.default
  if (detail !== 'all') delete facts.description
  return facts
}
