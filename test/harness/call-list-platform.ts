import type { CallCreate } from '../../src/contract/call.ts'
import { type Behaviour, json, startFakePlatform } from './fake-platform.ts'

/** A call in a list. */
export type ListedCall = { id: string; created: string; [field: string]: unknown }

/** Deviations of a platform's list of calls from the documentation. */
export interface Listing {
  /** Changes a call before the list shows it. */
  readonly show?: (call: ListedCall) => object
  readonly ignores?: readonly ('external_id' | 'offset' | 'created_after' | 'limit')[]
  /** Maximum calls per page. */
  readonly maxOnPage?: number
  /** Value of `count`, from the number of matching calls and of calls on the page. */
  readonly count?: (total: number, onPage: number) => number | undefined
}

const agent = { id: '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11', name: 'Wired' }

/**
 * A platform that places a call for every request, also with a known external id, and lists the
 * latest call last. `rings`: whether a request places a call, by the request's index; default:
 * true.
 */
export async function startCallListPlatform(listing: Listing = {}, rings: boolean[] = []) {
  const { show = (call) => call, ignores = [], maxOnPage = Number.POSITIVE_INFINITY } = listing
  const { count = (total) => total } = listing
  const calls: ListedCall[] = []
  const sent: CallCreate[] = []
  let answersToLose = Number.POSITIVE_INFINITY
  let readMs = 0
  const add = (call: object, agoMs = 0) => {
    const created = new Date(Date.now() - agoMs).toISOString()
    calls.push({ id: `call-${calls.length}`, status: 'in_progress', created, ...call })
  }
  const page = (query: URLSearchParams) => {
    const given = (name: 'external_id' | 'offset' | 'created_after' | 'limit') =>
      ignores.includes(name) ? null : query.get(name)
    const after = given('created_after')
    const id = given('external_id')
    const items = calls
      .filter(({ created }) => after === null || created >= after)
      .map((call): Record<string, unknown> => ({ ...call, ...show(call) }))
      .filter(({ external_id }) => id === null || external_id === id)
    const from = Number(given('offset') ?? 0)
    const onPage = Math.min(Number(given('limit') ?? 100), maxOnPage)
    const shown = items.slice(from, from + onPage)
    return { items: shown, count: count(items.length, shown.length) }
  }
  const behaviour: Behaviour = ({ method, url, body }, res) => {
    if (url.includes('/agents')) return json(res, 200, agent)
    if (method !== 'POST') {
      const reply = page(new URL(url, 'http://platform').searchParams)
      return void setTimeout(() => json(res, 200, reply), readMs)
    }
    const call: CallCreate = JSON.parse(body)
    sent.push(call)
    if (rings[sent.length - 1] ?? true) add(call)
    if (answersToLose-- > 0) return void res.destroy()
    json(res, 201, { ...call, ...calls.at(-1) })
  }
  const platform = await startFakePlatform(behaviour, { account: 'own' })
  return Object.assign(platform, {
    agent,
    /** All placed calls, before `show` changes them. */
    calls,
    /** Bodies of all requests to place a call. */
    sent,
    add,
    behaviour,
    /**
     * Drops the replies to the next `count` requests to place a call; initially all are dropped.
     */
    loseAnswers: (count: number) => {
      answersToLose = count
    },
    /** Delays the reply to each read, ms. */
    delayReads: (ms: number) => {
      readMs = ms
    },
    env: {
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_API_KEY: 'sk-0123456789',
      VOICE_AGENT_CONFIRM: 'never',
      VOICE_AGENT_CALL_FIND_OUT: '12',
      VOICE_AGENT_CALL_SETTLE: '0.5',
    },
  })
}
