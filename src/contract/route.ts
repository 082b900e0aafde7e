import * as z from 'zod'

// [B], [R] and [S] in comments: docs/architecture.md, "Marks in comments".

/** What an operation does to the account; tool annotations and confirmation follow from it. */
export type Effect =
  /** Changes nothing. */
  | 'reads'
  /** Creates or changes something; an earlier value can be written back. */
  | 'writes'
  /** Removes something, or hides it from use. */
  | 'destroys'
  /** Costs money and reaches a person; it cannot be undone. */
  | 'bills'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * One operation of the platform's REST API. Tools, client, sandbox and OpenAPI document are all
 * derived from these records.
 *
 * Request schemas describe what the platform accepts. Tools derive a stricter schema (unknown
 * fields are errors), the sandbox a looser one (unknown fields are dropped). Reply schemas are
 * loose, because the platform adds fields and values without a version change.
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
  /** Path below the base URL; `{name}` stands for the path parameter of that name. */
  readonly path: `/v1/${string}`
  /** One line, for the OpenAPI document. */
  readonly summary: string
  readonly params: Params
  readonly query: Query
  /** null when the operation sends no body. */
  readonly body: Body
  /** null when success has no content of its own: any 2xx, with or without a body. */
  readonly reply: Reply
  /** The documented status of a success; the client accepts any 2xx. */
  readonly success: 200 | 201 | 204
  readonly effect: Effect
  /** True when the outcome depends on more than the platform: telephones, live vendor data. */
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

/** Makes a route record, filling in what most routes share: no parameters, success 200. */
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
    // Without a body or reply the type parameters have their default, null.
    body: spec.body ?? (null as Body),
    reply: spec.reply ?? (null as Reply),
  }
}

/** A request for a route: path, query and body, each as its schema expects it. */
export interface RouteRequest {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body?: Readonly<Record<string, unknown>>
  /**
   * Runs right before each attempt to send the request. A request cancelled while it runs is not
   * sent.
   */
  readonly beforeSending?: () => Promise<void>
}

/** The parsed reply of a route; `undefined` where the route has no reply schema. */
export type ReplyOf<R extends Route> = R['reply'] extends z.ZodType
  ? z.output<R['reply']>
  : undefined
