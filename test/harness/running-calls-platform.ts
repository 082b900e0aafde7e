import { envelope, json, startFakePlatform } from './fake-platform.ts'

const agent = { id: '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11', name: 'Wired' }

/**
 * A fake platform on which calls continue until `end`. It counts the reads of each call, and
 * replies to a placed call after `answerMs`.
 */
export async function startRunningCallsPlatform({ answerMs = 0 } = {}) {
  /** Ended calls by id, with the last words and their speaker. */
  const ended = new Map<string, { words: string; role: string }>()
  const unanswered = new Set<string>()
  const unreadable = new Set<string>()
  const reads = new Map<string, number>()
  const dialled: Record<string, unknown>[] = []
  let failures = 0
  let refusals = 0
  let isHiding = false
  let added = {}
  let refusal = 422
  const callOf = (id: string) => {
    const created = new Date().toISOString()
    const end = ended.get(id)
    const isUnanswered = unanswered.has(id)
    const isOver = end !== undefined || isUnanswered
    return {
      id,
      status: isUnanswered ? 'failed' : isOver ? 'completed' : 'in_progress',
      answer_status: isUnanswered ? 'user_unavailable' : isOver ? 'human' : 'waiting',
      created,
      ended_at: isOver ? created : null,
      messages: end?.words ? [{ role: end.role, message: end.words, timestamp: created }] : [],
    }
  }
  const platform = await startFakePlatform(
    ({ method, url, body }, res) => {
      if (url.includes('/agents')) return json(res, 200, agent)
      if (method === 'POST') {
        if (refusals-- > 0) return json(res, refusal, envelope('refused'))
        const call = { ...callOf(`call-${dialled.length}`), ...JSON.parse(body) }
        dialled.push({ ...call, at: Date.now() })
        return void setTimeout(() => json(res, 201, call), answerMs)
      }
      const [, id] = /\/calls\/([^?]+)/.exec(url) ?? []
      if (id === undefined) {
        const wanted = new URL(url, 'http://platform').searchParams.get('external_id')
        const found = dialled.filter(({ external_id }) => external_id === wanted)
        const items = found.map((call) => ({ ...call, ...added }))
        return json(res, 200, { items, count: items.length })
      }
      reads.set(id, (reads.get(id) ?? 0) + 1)
      if (unreadable.has(id)) return json(res, 500, envelope('internal_error', 'No.'))
      if (isHiding) return json(res, 404, envelope('not_found'))
      if (failures-- > 0) return json(res, 500, { code: 'internal_error', message: 'No.' })
      return json(res, 200, callOf(id))
    },
    { account: 'own' },
  )
  return Object.assign(platform, {
    agent,
    dialled,
    env: { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: 'sk-0123456789' },
    /** Number of reads of a call. */
    reads: (id: string) => reads.get(id) ?? 0,
    end: (id: string, words = '', role = 'agent') => void ended.set(id, { words, role }),
    /** Ends a call that nobody answered. */
    endUnanswered: (id: string) => void unanswered.add(id),
    /** Makes every read of a call fail. */
    makeUnreadable: (id: string) => void unreadable.add(id),
    /** Makes the next `count` reads fail. */
    failNext: (count: number) => {
      failures = count
    },
    /** Adds fields to listed calls. */
    add: (fields: object) => {
      added = fields
    },
    /** Replies 404 to reads of calls while `hides` is true. */
    hide: (hides: boolean) => {
      isHiding = hides
    },
    /** Refuses the next `count` requests to place a call. */
    refuseNext: (count: number, status = 422) => {
      refusal = status
      refusals = count
    },
  })
}
