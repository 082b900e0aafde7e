import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { ErrorEnvelope } from '../contract/error.ts'
import { allRoutes } from '../contract/routes.ts'
import { matchRoute } from './request.ts'

const routeIds = allRoutes.map(({ id }) => id)

/** A rule by which the simulated platform fails. The first rule that matches a request applies. */
const FaultRule = z
  .strictObject({
    /** Id of a route, such as `calls.place`; `*` matches every request. */
    route: z.enum(['*', ...routeIds]).default('*'),
    /** Probability that the rule applies to a matching request. */
    probability: z.number().min(0).max(1).default(1),
    /** Maximum number of requests that the rule applies to; default: no limit. */
    times: z.int().min(1).optional(),
    /** Delay before anything else happens, ms. */
    delay_ms: z.int().min(0).max(600_000).optional(),
    /** The faulty reply; default: the platform's own reply, after the delay. */
    reply: z
      .discriminatedUnion('kind', [
        /** An error in the platform's envelope. `retry_after`: seconds, sent as Retry-After. */
        z.strictObject({
          kind: z.literal('error'),
          status: z.int().min(400).max(599),
          code: z.string().default('injected_fault'),
          retry_after: z.int().min(0).optional(),
        }),
        /** The HTML page of a proxy. */
        z.strictObject({
          kind: z.literal('html'),
          status: z.int().min(200).max(599).default(502),
        }),
        z.strictObject({
          kind: z.literal('empty'),
          status: z.int().min(200).max(599).default(502),
        }),
        /** The request takes effect, but only half of the reply is sent. */
        z.strictObject({ kind: z.literal('cut_off') }),
        /** The connection is closed without a reply, before or after the request takes effect. */
        z.strictObject({
          kind: z.literal('drop'),
          when: z.enum(['before', 'after']).default('before'),
        }),
      ])
      .optional(),
  })
  .refine(({ delay_ms, reply }) => delay_ms !== undefined || reply !== undefined, {
    error: 'A rule needs delay_ms or reply',
  })
type FaultRule = z.output<typeof FaultRule>

/** A faults file: rules, tried in order for each request. */
export const Faults = z.strictObject({
  /** Seed of the random numbers; equal seeds give the same faults in each run. */
  seed: z.int().optional(),
  rules: z.array(FaultRule),
})
export type Faults = z.input<typeof Faults>

type Fetch = (request: Request) => Promise<Response>

/**
 * Wraps `fetch` so that requests fail by the rules. A dropped connection is returned as
 * `Response.error()`.
 */
export function withFaults(fetch: Fetch, faults: Faults): Fetch {
  const { rules, seed } = Faults.parse(faults)
  const random = seed === undefined ? Math.random : dice(seed)
  const left = new Map(rules.map((rule) => [rule, rule.times ?? Number.POSITIVE_INFINITY]))

  const applies = (rule: FaultRule, id: string) => {
    const times = left.get(rule) ?? 0
    if ((rule.route !== '*' && rule.route !== id) || times === 0) return false
    if (random() >= rule.probability) return false
    left.set(rule, times - 1)
    return true
  }
  return async (request) => {
    const id = routeOf(request)
    const rule = rules.find((candidate) => applies(candidate, id))
    if (rule?.delay_ms) await sleep(rule.delay_ms)
    return rule?.reply ? misbehave(rule.reply, request, fetch) : fetch(request)
  }
}

function routeOf(request: Request): string {
  try {
    return matchRoute(request.method, new URL(request.url).pathname).route.id
  } catch {
    return ''
  }
}

async function misbehave(
  reply: NonNullable<FaultRule['reply']>,
  request: Request,
  fetch: Fetch,
): Promise<Response> {
  switch (reply.kind) {
    case 'error': {
      const { status, code, retry_after } = reply
      const message = 'This failure was asked for by a fault rule.'
      const headers = retry_after === undefined ? {} : { 'retry-after': String(retry_after) }
      const envelope = ErrorEnvelope.parse({ code, message, detail: null, errors: null })
      return Response.json(envelope, { status, headers })
    }
    case 'html': {
      const headers = { 'content-type': 'text/html' }
      return new Response('<html><h1>Bad gateway</h1></html>', { status: reply.status, headers })
    }
    case 'empty':
      return new Response(null, { status: reply.status })
    case 'cut_off':
      return cutOff(await fetch(request))
    case 'drop':
      if (reply.when === 'after') await fetch(request)
      return Response.error()
  }
}

/** The first half of a reply's body; then the connection breaks. */
async function cutOff(response: Response): Promise<Response> {
  const whole = new Uint8Array(await response.arrayBuffer())
  const half = new ReadableStream({
    start(controller) {
      controller.enqueue(whole.slice(0, Math.floor(whole.length / 2)))
    },
    async pull(controller) {
      // An immediate error would replace the first half, which must be flushed before.
      await sleep(50)
      controller.error(new Error('This reply was cut off by a fault rule.'))
    },
  })
  const { status, headers } = response
  return new Response(half, { status, headers })
}

/** A small pseudorandom generator (mulberry32). */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
