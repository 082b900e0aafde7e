import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { pick, randomOf, Tally } from './random.ts'

/*
 * A platform that misbehaves at random and does not care for external ids: each request to place a
 * call that it acts on rings a telephone.
 */

/** The agent that every call is placed with. */
export const agentId = '00000000-0000-4000-8000-00000000a6e7'

/** The longest that it takes to act on a request, and then to show the call in lists, ms. */
const latestActMs = 2600
const longestLagMs = 500

/** A telephone that rang. */
export interface Rung {
  readonly id: string
  readonly external_id: string
  readonly to_number: string
  readonly shownAt: number
}

export interface Platform extends AsyncDisposable {
  readonly url: string
  /** Every telephone that rang, by its number. */
  readonly rung: ReadonlyMap<string, readonly Rung[]>
  /** What it did, by name. */
  faults(): Record<string, number>
  /** Resolves when nothing is left that it might still act on. */
  settled(): Promise<void>
}

type Respond = (response: ServerResponse, call: Rung | undefined) => void

/** What may become of a request to place a call. */
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
const isSilent: Respond = () => undefined

const shown = ({ shownAt: _, ...call }: Rung) => ({
  ...call,
  type: 'phone',
  status: 'in_progress',
  answer_status: 'waiting',
})
const created: Respond = (response, call) => reply(201, call && shown(call))(response, call)
/** Half of an answer, and then the connection breaks. */
const cutOff: Respond = (response, call) => {
  const text = JSON.stringify(call && shown(call))
  response.writeHead(201, { 'content-type': 'application/json', 'content-length': text.length })
  response.write(text.slice(0, text.length / 2), () => response.destroy())
}

const postTurns: readonly PostTurn[] = [
  { name: 'POST is well', weight: 40, acts: 'at once', respond: created },
  { name: 'POST acts, then drops', weight: 6, acts: 'at once', respond: drops },
  { name: 'POST drops', weight: 6, acts: 'never', respond: drops },
  { name: 'POST acts, never answers', weight: 5, acts: 'at once', respond: isSilent },
  { name: 'POST never answers', weight: 4, acts: 'never', respond: isSilent },
  { name: 'POST acts late, never answers', weight: 6, acts: 'late', respond: isSilent },
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

/** What may become of a question; `undefined`: it is answered. */
interface GetTurn {
  readonly name: string
  readonly weight: number
  readonly respond?: Respond
  readonly lateMs?: number
}

const getTurns: readonly GetTurn[] = [
  { name: 'GET is well', weight: 80 },
  { name: 'GET is slow', weight: 6, lateMs: 150 },
  { name: 'GET never answers', weight: 3, respond: isSilent },
  { name: 'GET drops', weight: 4, respond: drops },
  { name: 'GET 500', weight: 3, respond: fails(500) },
  { name: 'GET 503', weight: 2, respond: fails(503) },
  { name: 'GET 404', weight: 1, respond: fails(404) },
  { name: 'GET HTML 502', weight: 1, respond: page(502) },
]

const Placing = z.looseObject({ to_number: z.string(), external_id: z.string() })

export async function startPlatform(seed: number): Promise<Platform> {
  const misbehaviour = new Misbehaviour(seed)
  const server = createServer((request, response) => {
    misbehaviour.serve(request, response).catch((error: unknown) => {
      // Who has gone is a client that was killed.
      if (!request.readableAborted) throw error
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    rung: misbehaviour.rung,
    faults: () => misbehaviour.faults.all(),
    settled: () => sleep(latestActMs + longestLagMs),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

class Misbehaviour {
  readonly rung = new Map<string, Rung[]>()
  readonly faults = new Tally()
  readonly #seed: number
  readonly #byExternalId = new Map<string, Rung[]>()
  readonly #posts = new Map<string, number>()
  readonly #random: () => number

  constructor(seed: number) {
    this.#seed = seed
    this.#random = randomOf(seed, 'questions')
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const url = new URL(request.url ?? '/', 'http://platform')
    if (request.method !== 'POST') return this.#question(url, response)
    await this.#place(Placing.parse(JSON.parse(Buffer.concat(chunks).toString())), response)
  }

  /** What becomes of the nth request for a number is the same in every run of a seed. */
  async #place(placing: z.output<typeof Placing>, response: ServerResponse): Promise<void> {
    const { to_number } = placing
    const nth = (this.#posts.get(to_number) ?? 0) + 1
    this.#posts.set(to_number, nth)
    const random = randomOf(this.#seed, to_number, nth)
    const { name, acts, respond } = pick(postTurns, random)
    this.faults.add(name)
    const ring = () => this.#ring(placing, random() < 0.5 ? 0 : random() * longestLagMs)
    if (acts !== 'late') return respond(response, acts === 'never' ? undefined : ring())
    respond(response, undefined)
    await sleep(random() * latestActMs)
    ring()
  }

  #ring({ to_number, external_id }: z.output<typeof Placing>, lagMs: number): Rung {
    const call = { id: randomUUID(), external_id, to_number, shownAt: Date.now() + lagMs }
    add(this.rung, to_number, call)
    add(this.#byExternalId, external_id, call)
    return call
  }

  async #question(url: URL, response: ServerResponse): Promise<void> {
    const { name, respond, lateMs = 0 } = pick(getTurns, this.#random)
    this.faults.add(name)
    if (respond) return respond(response, undefined)
    await sleep(lateMs)
    reply(200, this.#answer(url))(response, undefined)
  }

  #answer({ pathname, searchParams }: URL): unknown {
    if (pathname.endsWith('/accounts/current')) return { id: 'stress', name: 'Stress' }
    if (pathname.includes('/agents/')) return { id: agentId, name: 'Stress', is_archived: false }
    const calls = this.#byExternalId.get(searchParams.get('external_id') ?? '') ?? []
    const items = calls.filter(({ shownAt }) => shownAt <= Date.now()).map(shown)
    return { count: items.length, items }
  }
}

const add = (map: Map<string, Rung[]>, key: string, call: Rung) =>
  map.set(key, [...(map.get(key) ?? []), call])
