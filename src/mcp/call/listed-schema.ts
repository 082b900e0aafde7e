import type { JsonSchema } from '../../contract/json-schema.ts'

/** Where tools/list shows less than the whole schema. */
export interface ListingDetail {
  /** Objects whose fields have no descriptions: their names and bounds say enough. */
  readonly undescribed?: readonly string[]
  /** Arguments shown by type alone, with the fields in them: another tool describes them. */
  readonly typesOnly?: readonly string[]
}

/** How much is shown of one field. */
type FieldDetail = 'all' | 'undescribed' | 'type'

/**
 * An input schema as tools/list shows it, in few tokens. Arguments are parsed with the whole schema
 * in any case, and errors name the known fields. `pinned` leaves out `account_id`, which callers
 * cannot choose then.
 */
export function listedSchema(
  schema: JsonSchema,
  account: 'any' | 'pinned',
  detail: ListingDetail,
): JsonSchema {
  const { account_id, ...properties } = schema.properties ?? {}
  const offersAccount = account === 'any' && account_id !== undefined
  return {
    ...schema,
    properties: {
      ...mapFields(properties, (name, field) =>
        listedField(name, field, detail, detail.typesOnly?.includes(name) ? 'type' : 'all'),
      ),
      // The instructions describe it once for all tools.
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
  listing: ListingDetail,
  detail: FieldDetail,
): JsonSchema {
  const innerDetail = listing.undescribed?.includes(name) ? 'undescribed' : detail
  const { properties, items, ...keywords } = schema
  return {
    ...listedKeywords(keywords, detail),
    ...(properties && {
      properties: mapFields(properties, (inner, field) =>
        listedField(inner, field, listing, innerDetail),
      ),
    }),
    ...(items !== undefined && {
      items: listedField(name, withoutMaxLength({ ...Object(items) }), listing, detail),
    }),
  }
}

const withoutMaxLength = ({ maxLength: _, ...keywords }: JsonSchema): JsonSchema => keywords

/**
 * Left out is what a model does without: that a text may not be empty and is empty by default, that
 * a number may not be negative and is 0 by default, how long a list may be, the pattern of E.164.
 */
function listedKeywords(
  { minLength: _, pattern: __, minItems: ___, maxItems: ____, ...keywords }: JsonSchema,
  detail: FieldDetail,
): JsonSchema {
  // A converter for strict function calling closes every object that does not state to be open.
  if (keywords.additionalProperties !== true) delete keywords.additionalProperties
  if (detail === 'type') {
    const { type, additionalProperties } = keywords
    return { ...(type && { type }), ...(additionalProperties && { additionalProperties }) }
  }
  if (keywords.type === 'integer' && (keywords.minimum ?? 2) <= 1) delete keywords.minimum
  if (keywords.minimum === 0 && keywords.maximum === undefined) delete keywords.minimum
  if (keywords.default === 0 || keywords.default === '') delete keywords.default
  if (detail !== 'all') delete keywords.description
  return keywords
}
