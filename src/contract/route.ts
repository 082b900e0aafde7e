import * as z from 'zod'

// [B], [R] and [S] in comments: CONTRIBUTING.md, "Marks in comments".

/** What an operation does to the account. Decides annotations, OAuth scope and read-only mode. */
export type Effect =
  /** Changes nothing. */
  | 'reads'
  /** Creates or changes something. An update can restore the earlier value. */
  | 'writes'
  /** Removes something, or hides it from use. */
  | 'destroys'
  /** Costs money and reaches a person. Cannot be undone. */
  | 'bills'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * One operation of the platform's REST API. Tools, client, sandbox and OpenAPI document are derived
 * from these records.
 *
 * Request schemas describe the requests that the platform accepts. Tools derive a stricter schema
 * from them (unknown fields are errors), the sandbox a looser one (unknown fields are dropped).
 * Reply schemas are loose, because the platform adds fields and values without a version change.
 */
export interface Route<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodObject | null = z.ZodObject | null,
  Reply extends z.ZodType | null = z.ZodType | null,
> {
  /** `noun.verb`, unique. */
  readonly id: string
  readonly method: Method
  /** Path below the base URL. `{name}` is the path parameter with that name. */
  readonly path: `/v1/${string}`
  /** One line about the operation, for the OpenAPI document. */
  readonly summary: string
  readonly params: Params
  readonly query: Query
  /** null: the operation sends no body. */
  readonly body: Body
  /** null: the reply's content is not used. Any 2xx is a success, with or without a body. */
  readonly reply: Reply
  /** The documented status of a success; the client accepts any 2xx. */
  readonly success: 200 | 201 | 204
  readonly effect: Effect
  /**
   * True if the outcome depends on more than the platform, such as telephones or a vendor's live
   * data.
   */
  readonly openWorld: boolean
}

interface RouteSpec<Params, Query, Body, Reply> {
  id: string
  method: Method
  path: `/v1/${string}`
  summary: string
  params?: Params
  query?: Query
  body?: Body
  reply?: Reply
  success?: 200 | 201 | 204
  effect: Effect
  openWorld?: boolean
}

/** Creates a route record. Defaults: no parameters, no body, no reply, success 200. */
export function route<
  Params extends z.ZodRawShape = Record<never, never>,
  Query extends z.ZodRawShape = Record<never, never>,
  Body extends z.ZodObject | null = null,
  Reply extends z.ZodType | null = null,
>(
  spec: RouteSpec<Params, Query, Body, Reply>,
): Route<z.ZodObject<Params>, z.ZodObject<Query>, Body, Reply> {
  return {
    success: 200,
    openWorld: false,
    ...spec,
    params: z.object(spec.params ?? ({} as Params)),
    query: z.object(spec.query ?? ({} as Query)),
    // If body or reply is absent, its type parameter has the default, null.
    body: spec.body ?? (null as Body),
    reply: spec.reply ?? (null as Reply),
  }
}

/** A request for a route. Path, query and body must match the route's schemas. */
export interface RouteRequest {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body?: Readonly<Record<string, unknown>>
  /**
   * Runs right before each attempt to send. If the request is cancelled while this runs, it is not
   * sent.
   */
  readonly beforeSending?: () => Promise<void>
}

/** A request of a route, with its body as the route's schema parses it. */
export type RequestOf<R extends Route> = R['body'] extends z.ZodObject
  ? RouteRequest & { readonly body: z.output<R['body']> }
  : RouteRequest

/** The parsed reply of a route; `undefined` if the route has no reply schema. */
export type ReplyOf<R extends Route> = R['reply'] extends z.ZodType
  ? z.output<R['reply']>
  : undefined

/*
 * Query strings, as the client encodes and the sandbox decodes them. The client repeats the
 * parameter for each item of an array. The sandbox also splits a single parameter at its commas.
 * Booleans are `true` or `false`.
 */

/** Writes a query string, without the fields that are `undefined`. */
export function encodeQuery(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const item of Array.isArray(value) ? repeated(value) : [value]) {
      search.append(name, String(item))
    }
  }
  return search.toString()
}

/**
 * Doubles a single item that contains a comma. Written once, it would be split into several items,
 * because the platform also accepts comma-separated lists [R]. A repeated item does not change a
 * filter.
 */
const repeated = (items: readonly unknown[]): readonly unknown[] =>
  items.length === 1 && String(items[0]).includes(',') ? [items[0], items[0]] : items

/**
 * Converts the parameters of a query string to the types that `schema` expects, before they are
 * parsed. A text that is no number or boolean stays a text, so that the schema reports it. Unknown
 * parameters are dropped. Empty parameters count as absent [S], because the platform's client
 * libraries send null as an empty parameter.
 */
export function decodeQuery(schema: z.ZodObject, search: URLSearchParams): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.shape)) {
    const texts = search.getAll(name).filter((text) => text !== '')
    const last = texts.at(-1)
    if (last === undefined) continue
    query[name] = decode(field, last, texts)
  }
  return query
}

function decode(field: z.core.$ZodType, text: string, all: string[]): unknown {
  if (field instanceof z.ZodOptional) return decode(field.unwrap(), text, all)
  // The platform accepts lists as repeated parameters or separated by commas [R]. In a repeated
  // text parameter, a comma is part of the item [S].
  if (field instanceof z.ZodArray) {
    const isText = field.element instanceof z.ZodString && all.length > 1
    return isText ? all : all.flatMap((item) => item.split(','))
  }
  if (field instanceof z.ZodNumber) return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (field instanceof z.ZodBoolean) return text === 'true' || (text === 'false' ? false : text)
  return text
}
