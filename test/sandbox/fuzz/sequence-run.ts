import { isDeepStrictEqual } from 'node:util'
import { openSandbox } from '../../../src/sandbox/sandbox.ts'
import { sandboxKeys, seedIds } from '../../../src/sandbox/seed.ts'
import { isObject, type Operation } from '../../harness/openapi.ts'
import { referenceKinds, withNestings, withReferences } from '../../harness/schema-values.ts'
import type { Step } from './random-requests.ts'
import { type Reply, type Sent, verdict } from './reply-check.ts'

type Fetch = (request: Request) => Promise<Response>

/** Number of replies by operation and status. */
export type Coverage = Map<string, Map<number, number>>

/** `through`: wraps the sandbox's fetch, so that a test can break it. */
export interface SequenceOptions {
  readonly operations: readonly Operation[]
  readonly coverage: Coverage
  readonly through?: (fetch: Fetch) => Fetch
}

/** Runs a sequence of requests against a new sandbox. Throws at the first wrong reply. */
export async function runSequence(steps: readonly Step[], options: SequenceOptions): Promise<void> {
  const { operations, coverage, through = (fetch: Fetch) => fetch } = options
  let now = Date.UTC(2026, 10, 21, 12)
  const sandbox = openSandbox({ file: ':memory:', speed: 1, now: () => now })
  const fetch = through(sandbox.fetch)
  const known = new Known(operations)

  const ask = async (step: Step): Promise<{ sent: Sent; reply: Reply }> => {
    now += step.wait * 1000
    const sent = requestOf(step, known)
    const reply = await send(fetch, sent)
    count(coverage, sent, reply)
    const wrong = verdict(sent, reply)
    if (wrong) throw new Error(story(sent, reply, wrong))
    return { sent, reply }
  }
  try {
    for (const step of steps) {
      const { sent, reply } = await ask(step)
      if (!sent.operation || reply.status >= 300) continue
      known.learn(sent.operation, reply.json)
      const again = readingOf(operations, sent, reply)
      if (!again) continue
      const { reply: stored } = await ask({ ...step, wait: 0, body: undefined, ...again })
      if (!isDeepStrictEqual(stored.json, reply.json)) {
        throw new Error(story(sent, reply, `what is stored is another: ${short(stored.text)}`))
      }
    }
  } finally {
    sandbox.close()
  }
}

/** Ids from replies so far, by kind. Begins with the examples in the document. */
class Known {
  readonly #ids = new Map<string, string[]>([['account', ['me', seedIds.otherAccount]]])

  constructor(operations: readonly Operation[]) {
    for (const { name, example } of operations.flatMap(({ parameters }) => parameters)) {
      const kind = referenceKinds[name]
      if (kind && typeof example === 'string') this.#add(kind, example)
    }
    this.#add('number', '+12025550110')
  }

  /** The id of this kind that was received `back` ids before the newest one. */
  find(kind: string, back: number): string {
    const ids = this.#ids.get(kind) ?? []
    return ids.at(-1 - (back % Math.max(1, ids.length))) ?? 'none'
  }

  learn({ noun }: Operation, json: unknown): void {
    const kind = `${noun.replace('subaccount', 'account').replace(/s$/, '')}`
    const items = isObject(json) && Array.isArray(json.items) ? json.items.toReversed() : [json]
    for (const item of items) {
      if (!isObject(item)) continue
      if (typeof item.id === 'string') this.#add(kind, item.id)
      if (typeof item.number === 'string') this.#add('number', item.number)
    }
  }

  #add(kind: string, id: string): void {
    const ids = this.#ids.get(kind) ?? []
    if (!ids.includes(id)) this.#ids.set(kind, [...ids, id])
  }
}

function requestOf({ operation, method, target, body, key }: Step, known: Known): Sent {
  const inUrl = (kind: string, back: number) => encodeURIComponent(known.find(kind, back))
  return {
    operation,
    method,
    key,
    url: new URL(`http://sandbox${withReferences(target, inUrl)}`),
    body: body && withNestings(withReferences(body, (kind, back) => known.find(kind, back))),
  }
}

const keys: Readonly<Record<string, string>> = { ...sandboxKeys, nobody: 'no-such-key' }

async function send(fetch: Fetch, { method, url, key, body }: Sent): Promise<Reply> {
  const apiKey = keys[key]
  const response = await fetch(
    new Request(url, {
      method,
      headers: apiKey === undefined ? {} : { 'x-api-key': apiKey },
      ...(body !== undefined && { body }),
    }),
  )
  const text = await response.text()
  const { status, headers } = response
  return { status, type: headers.get('content-type'), text, json: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The operation that reads what a request has written; null unless the document gives both the same
 * schema.
 */
function readingOf(
  operations: readonly Operation[],
  { operation, url, method }: Sent,
  { status, json }: Reply,
): Pick<Step, 'operation' | 'method' | 'target'> | null {
  if (method === 'GET' || !operation || !isObject(json)) return null
  const { pathname } = url
  const reading = operations.find(
    (one) =>
      one.method === 'GET' &&
      (one.path === operation.path || one.path.replace(/\/\{\w+\}$/, '') === operation.path) &&
      isDeepStrictEqual(one.responses.get(200)?.body?.schema, schemaOf(operation, status)),
  )
  if (!reading) return null
  const target = reading.path === operation.path ? pathname : `${pathname}/${String(json.id)}`
  return { operation: reading, method: 'GET', target }
}

const schemaOf = (operation: Operation, status: number) =>
  operation.responses.get(status)?.body?.schema

function count(coverage: Coverage, { operation }: Sent, { status }: Reply): void {
  const id = operation?.id ?? 'stray'
  const statuses = coverage.get(id) ?? new Map<number, number>()
  coverage.set(id, statuses.set(status, (statuses.get(status) ?? 0) + 1))
}

/** Shortens a text for a message: repetitions are collapsed. */
function short(text: string): string {
  const dense = text.replace(/(.{1,5}?)\1{20,}/gsu, '$1…')
  return dense.length > 1500 ? `${dense.slice(0, 1500)}…` : dense
}

const story = ({ method, url, key, body }: Sent, { status, text }: Reply, wrong: string) =>
  [
    `${wrong}:`,
    `${method} ${short(url.pathname + url.search)} (key ${key})`,
    short(body ?? '(no body)'),
    `answered ${status} ${short(text)}`,
  ].join('\n')
