import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { type SeenRequest, startFakePlatform } from '../../../test/harness/fake-platform.ts'
import { pick, randomOf, Tally } from './random.ts'

/*
 * A platform with random faults that ignores external ids: whenever it acts on a request to place a
 * call, a telephone rings.
 */

/** The agent that every call is placed with. */
export const agentId = '00000000-0000-4000-8000-00000000a6e7'

/** Longest time until it acts on a request, and then until lists show the call, ms. */
const latestActMs = 2600
const longestLagMs = 500

/** A call that the platform placed: a telephone rang. */
export interface RungCall {
  readonly id: string
  readonly external_id: string
  readonly to_number: string
  readonly shownAt: number
}

export interface FaultyPlatform extends AsyncDisposable {
  readonly url: string
  /** All calls that rang, by number. */
  readonly rung: ReadonlyMap<string, readonly RungCall[]>
  /** How often it did what, by name. */
  faults(): Record<string, number>
  /** Resolves when no request is left that it may still act on. */
  settled(): Promise<void>
}

type Respond = (response: ServerResponse, call: RungCall | undefined) => void

/** What the platform may do with a request to place a call. */
interface PostTurn {
  readonly name: string
  readonly weight: number
  readonly acts: 'at once' | 'late' | 'never'
  readonly respond: Respond
}

const reply =
  (status: number, body: unknown, headers: Record<string, string> = {}): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
const fails = (status: number, headers?: Record<string, string>) =>
  reply(status, { code: `error_${status}`, message: 'No.', detail: null, errors: null }, headers)
const page =
  (status: number): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>')
const drops: Respond = (response) => void response.destroy()
const neverAnswers: Respond = () => undefined

const shown = ({ shownAt: _, ...call }: RungCall) => ({
  ...call,
  type: 'phone',
  status: 'in_progress',
  answer_status: 'waiting',
})
const created: Respond = (response, call) => reply(201, call && shown(call))(response, call)
/** Sends half of the reply and closes the connection. */
const cutOff: Respond = (response, call) => {
  const text = JSON.stringify(call && shown(call))
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': text.length })
  response.write(text.slice(0, text.length / 2), () => response.destroy())
}

const postTurns: readonly PostTurn[] = [
  { name: 'POST is well', weight: 40, acts: 'at once', respond: created },
  { name: 'POST acts, then drops', weight: 6, acts: 'at once', respond: drops },
  { name: 'POST drops', weight: 6, acts: 'never', respond: drops },
  { name: 'POST acts, never answers', weight: 5, acts: 'at once', respond: neverAnswers },
  { name: 'POST never answers', weight: 4, acts: 'never', respond: neverAnswers },
  { name: 'POST acts late, never answers', weight: 6, acts: 'late', respond: neverAnswers },
  { name: 'POST acts late, drops at once', weight: 3, acts: 'late', respond: drops },
  { name: 'POST acts late, 504 at once', weight: 4, acts: 'late', respond: fails(504) },
  { name: 'POST acts, 502', weight: 3, acts: 'at once', respond: fails(502) },
  { name: 'POST 502', weight: 3, acts: 'never', respond: fails(502) },
  { name: 'POST acts, 504', weight: 3, acts: 'at once', respond: fails(504) },
  { name: 'POST 504', weight: 3, acts: 'never', respond: fails(504) },
  { name: 'POST acts, HTML 502', weight: 2, acts: 'at once', respond: page(502) },
  { name: 'POST HTML 502', weight: 2, acts: 'never', respond: page(502) },
  { name: 'POST acts, 500', weight: 3, acts: 'at once', respond: fails(500) },
  { name: 'POST acts, 408', weight: 1, acts: 'at once', respond: fails(408) },
  { name: 'POST acts, 409', weight: 2, acts: 'at once', respond: fails(409) },
  { name: 'POST acts, cut off', weight: 3, acts: 'at once', respond: cutOff },
  { name: 'POST acts, HTML 200', weight: 1, acts: 'at once', respond: page(200) },
  { name: 'POST 429', weight: 4, acts: 'never', respond: fails(429, { 'retry-after': '1' }) },
  { name: 'POST 422', weight: 3, acts: 'never', respond: fails(422) },
]

/** What the platform may do with a request to read; without `respond` it replies. */
interface GetTurn {
  readonly name: string
  readonly weight: number
  readonly respond?: Respond
  readonly lateMs?: number
}

const getTurns: readonly GetTurn[] = [
  { name: 'GET is well', weight: 80 },
  { name: 'GET is slow', weight: 6, lateMs: 150 },
  { name: 'GET never answers', weight: 3, respond: neverAnswers },
  { name: 'GET drops', weight: 4, respond: drops },
  { name: 'GET 500', weight: 3, respond: fails(500) },
  { name: 'GET 503', weight: 2, respond: fails(503) },
  { name: 'GET 404', weight: 1, respond: fails(404) },
  { name: 'GET HTML 502', weight: 1, respond: page(502) },
]

const CallRequest = z.looseObject({ to_number: z.string(), external_id: z.string() })

export async function startFaultyPlatform(seed: number): Promise<FaultyPlatform> {
  const faults = new RandomFaults(seed)
  const platform = await startFakePlatform((request, response) => {
    void faults.answer(request, response)
  })
  return {
    url: platform.url,
    rung: faults.rung,
    faults: () => faults.counts.all(),
    settled: () => sleep(latestActMs + longestLagMs),
    [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose](),
  }
}

class RandomFaults {
  readonly rung = new Map<string, RungCall[]>()
  readonly counts = new Tally()
  readonly #seed: number
  readonly #byExternalId = new Map<string, RungCall[]>()
  readonly #posts = new Map<string, number>()
  readonly #random: () => number

  constructor(seed: number) {
    this.#seed = seed
    this.#random = randomOf(seed, 'reads')
  }

  async answer({ method, url, body }: SeenRequest, response: ServerResponse): Promise<void> {
    if (method === 'POST') await this.#place(CallRequest.parse(JSON.parse(body)), response)
    else await this.#read(new URL(url, 'http://platform'), response)
  }

  /** What it does with the nth request for a number depends on the seed alone. */
  async #place(call: z.output<typeof CallRequest>, response: ServerResponse): Promise<void> {
    const { to_number } = call
    const nth = (this.#posts.get(to_number) ?? 0) + 1
    this.#posts.set(to_number, nth)
    const random = randomOf(this.#seed, to_number, nth)
    const { name, acts, respond } = pick(postTurns, random)
    this.counts.add(name)
    const ring = () => this.#ring(call, random() < 0.5 ? 0 : random() * longestLagMs)
    if (acts !== 'late') return respond(response, acts === 'never' ? undefined : ring())
    respond(response, undefined)
    await sleep(random() * latestActMs)
    ring()
  }

  #ring({ to_number, external_id }: z.output<typeof CallRequest>, lagMs: number): RungCall {
    const call = { id: randomUUID(), external_id, to_number, shownAt: Date.now() + lagMs }
    add(this.rung, to_number, call)
    add(this.#byExternalId, external_id, call)
    return call
  }

  async #read(url: URL, response: ServerResponse): Promise<void> {
    const { name, respond, lateMs = 0 } = pick(getTurns, this.#random)
    this.counts.add(name)
    if (respond) return respond(response, undefined)
    await sleep(lateMs)
    reply(200, this.#replyTo(url))(response, undefined)
  }

  #replyTo({ pathname, searchParams }: URL): unknown {
    if (pathname.endsWith('/accounts/current')) return { id: 'stress', name: 'Stress' }
    if (pathname.includes('/agents/')) return { id: agentId, name: 'Stress', is_archived: false }
    const calls = this.#byExternalId.get(searchParams.get('external_id') ?? '') ?? []
    const items = calls.filter(({ shownAt }) => shownAt <= Date.now()).map(shown)
    return { count: items.length, items }
  }
}

const add = (map: Map<string, RungCall[]>, key: string, call: RungCall) =>
  map.set(key, [...(map.get(key) ?? []), call])
