import * as z from 'zod'

/** The same request, repeated over so many connections for so long. */
export const Load = z.object({
  url: z.string(),
  method: z.enum(['GET', 'POST']),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  connections: z.int(),
  seconds: z.number(),
  /** The requests use so many API keys in turn; when absent, the one in `headers`. */
  keys: z.int().optional(),
})
export type Load = z.output<typeof Load>

export const LoadResult = z.object({
  requests: z.number(),
  seconds: z.number(),
  /** Size of the last reply. */
  bytes: z.number(),
  /** How long a request took, ms. */
  p50: z.number(),
  p99: z.number(),
})
export type LoadResult = z.output<typeof LoadResult>
