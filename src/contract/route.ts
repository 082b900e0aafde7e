import * as z from 'zod'

// [B], [R] and [S] in comments: docs/architecture.md, "Marks in comments".

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
