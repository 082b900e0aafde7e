import * as z from 'zod'

/** What an operation does to the account: the source of every safety hint. */
export type Effect =
  /** Changes nothing. */
  | 'reads'
  /** Creates or changes something; what it overwrites can be written back. */
  | 'writes'
  /** Removes something, or hides it from use. */
  | 'destroys'
  /** Costs money and reaches a person: it cannot be taken back. */
  | 'bills'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * One operation of the platform's REST API. Everything that speaks the API (tools, client,
 * sandbox, OpenAPI document) is derived from these records.
 *
 * Request schemas describe what the platform takes; whoever needs it stricter (the tools) or
 * laxer (the sandbox drops unknown fields) derives that. Reply schemas are loose, because the
 * platform adds fields and values without a version change.
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
  /** null when success is an acknowledgement: any 2xx, with or without a body. */
  readonly reply: Reply
  /** The status a success is documented with; a client accepts any 2xx. */
  readonly success: 200 | 201 | 204
  readonly effect: Effect
  /** True when the outcome depends on a world beyond the platform: telephones, live vendor data. */
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
    // Absent is what the defaults of the type parameters mean by null.
    body: spec.body ?? (null as Body),
    reply: spec.reply ?? (null as Reply),
  }
}

/** What a caller sends for a route: path, query and body, each as its schema takes it. */
export interface RouteRequest {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body?: Readonly<Record<string, unknown>>
}

/** The reply of a route, as its schema gives it; `undefined` for an acknowledgement. */
export type ReplyOf<R extends Route> = R['reply'] extends z.ZodType
  ? z.output<R['reply']>
  : undefined
