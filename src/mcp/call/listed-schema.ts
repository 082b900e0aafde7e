import type { JsonSchema } from '../../contract/json-schema.ts'
import { pageQuery } from '../../contract/page.ts'
import { fieldsOption } from '../../views/fields.ts'
import { fieldNames } from './field-names.ts'

/** Where tools/list shows less than the whole schema. */
export interface ListingDetail {
  /** Objects whose fields have no descriptions: their names and bounds say enough. */
  readonly undescribed?: readonly string[]
  /**
   * Arguments shown by type alone, objects as open ones with the names of their fields: another tool
   * describes them.
   */
  readonly typesOnly?: readonly string[]
  /** Open objects of which only the description is shown, which says where their fields are listed. */
  readonly describedElsewhere?: readonly string[]
  /** Arguments that are not shown, because others do nearly the same. They are accepted. */
  readonly hidden?: readonly string[]
}

/** Arguments that choose accounts; callers that act on a pinned account cannot choose. */
export const accountArguments = ['account_id', 'include_subaccounts', 'to_account_id'] as const

/** How much is shown of one field. */
type FieldDetail = 'all' | 'undescribed' | 'type'

/**
 * An input schema as tools/list shows it, in few tokens. Arguments are parsed with the whole schema
 * in any case, and errors name the known fields. `pinned` leaves out the arguments that choose
 * accounts.
 */
export function listedSchema(
  schema: JsonSchema,
  account: 'any' | 'pinned',
  detail: ListingDetail,
): JsonSchema {
  const { account_id, include_subaccounts, to_account_id, ...properties } = schema.properties ?? {}
  const offersAccount = account === 'any' && account_id !== undefined
  const offersSubaccounts = account === 'any' && include_subaccounts !== undefined
  const shown = Object.entries(properties).filter(([name]) => !detail.hidden?.includes(name))
  return {
    ...schema,
    properties: {
      ...mapFields(Object.fromEntries(shown), (name, field) =>
        listedField(name, field, detail, detail.typesOnly?.includes(name) ? 'type' : 'all'),
      ),
      ...(account === 'any' && to_account_id !== undefined && { to_account_id }),
      ...(offersSubaccounts && { include_subaccounts: { type: 'boolean' } }),
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
  if (listing.describedElsewhere?.includes(name))
    return { type: 'object', additionalProperties: true, description: schema.description ?? '' }
  if (detail === 'type' && schema.properties) return openObject(schema)
  const innerDetail = listing.undescribed?.includes(name) ? 'undescribed' : detail
  const { properties, items, ...keywords } = schema
  return {
    ...listedKeywords(name, keywords, detail),
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

const openObject = (schema: JsonSchema): JsonSchema => ({
  type: 'object',
  additionalProperties: true,
  description: `${fieldNames(schema)}.`,
})

const withoutMaxLength = ({ maxLength: _, ...keywords }: JsonSchema): JsonSchema => keywords

/**
 * Left out is what a model does without: that a text may not be empty and is empty by default, that
 * a number may not be negative and is 0 by default, how long a list may be, the pattern of E.164, a
 * description that only repeats the name.
 */
function listedKeywords(
  name: string,
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
  if (detail !== 'all' || isPlain(name, keywords)) delete keywords.description
  return keywords
}

/** Descriptions of arguments that all lists have: the instructions say it once. */
const ofEveryList = [pageQuery.limit.unwrap(), pageQuery.offset.unwrap(), fieldsOption.fields].map(
  ({ description }) => description,
)

/** Words of a description that add nothing to the name. */
const fillers = new Set(
  `answers call calls display first gender in incoming it kind last most of one only over runs show
  speaks state that the this to turn voice voices return with`.split(/\s+/),
)

/** Whether the name of a field says what its description does. */
function isPlain(name: string, { description = '', format }: JsonSchema): boolean {
  const isTimeFilter = format === 'date-time' && /_(gt|ge|lt|le|after|before)$/.test(name)
  const known = new Set(name.split('_'))
  const words = description.toLowerCase().match(/[a-z]+/g) ?? []
  const isTheName = words.every((word) => known.has(word) || fillers.has(word))
  return isTimeFilter || isTheName || ofEveryList.includes(description)
}
