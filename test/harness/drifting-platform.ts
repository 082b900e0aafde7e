import { startFakePlatform } from './fake-platform.ts'
import { startSandbox } from './sandbox.ts'

/**
 * Ways in which replies differ from the documented ones: fields are absent, null or of another
 * type, or have names of our results.
 */
export const drifts = ['absent', 'null', 'another type', 'names of ours'] as const
export type DriftKind = (typeof drifts)[number]

/** Fields that never drift, because no result could be built without them. */
const required = new Set(
  [
    'id',
    'conversation_id',
    'valid',
    'items',
    'data',
    'values',
    'ts',
    'seconds',
    'conversations',
  ].concat(['voices', 'provider', 'code', 'type', 'message', 'status']),
)

/** Fields that our results add to replies; here the platform sends them, too. */
const ofResults = ['note', 'total', 'returned', 'next_offset', 'summary', 'transcript', 'providers']
  .concat('failed', 'warnings', 'changes', 'applied', 'totals', 'compared_with', 'names', 'read_as')
  .concat('ignored_nulls', 'also_found', 'repaired', 'repairs', 'spoken', 'account', 'outcome')
  .concat('answer_statuses', 'several', 'agents', 'calls', 'checks', 'confirmation', 'done', 'rank')
  .concat('account_id', 'failed_accounts', 'note_on_text', 'models', 'copied_from', 'replayed')

/** A value of another JSON type. */
function otherType(value: unknown, at: number): unknown {
  const others = ['text', 7, true, { inner: 1 }, [5]].filter(
    (other) => typeof other !== typeof value || Array.isArray(other) !== Array.isArray(value),
  )
  return others[at % others.length]
}

function drifted(value: unknown, kind: DriftKind, at: number): unknown {
  if (Array.isArray(value)) return value.map((item) => drifted(item, kind, at))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).flatMap(([name, field], index): [string, unknown][] => {
    if (kind === 'names of ours' || required.has(name)) return [[name, drifted(field, kind, at)]]
    if (kind === 'absent') return []
    return [[name, kind === 'null' ? null : otherType(field, at + index)]]
  })
  const added = kind === 'names of ours' ? ofResults : []
  return {
    ...Object.fromEntries(added.map((name, index) => [name, otherType(undefined, at + index)])),
    ...Object.fromEntries(fields),
  }
}

/**
 * The sandbox behind a platform whose successful replies drift from the documentation in one way.
 */
export async function startDriftingPlatform() {
  const sandbox = startSandbox({ speed: 100 })
  let change = (body: unknown): unknown => body
  const platform = await startFakePlatform(async ({ method, url, body }, response) => {
    sandbox.wait(60)
    const sent = body ? JSON.parse(body) : undefined
    const reply = await sandbox.send(method, url.slice('/v1/'.length), sent)
    response.writeHead(reply.status, { 'content-type': 'application/json' })
    const shown = reply.status < 300 ? change(reply.body) : reply.body
    response.end(reply.body === null ? '' : JSON.stringify(shown))
  })
  return {
    url: platform.url,
    sandbox,
    /** Sets the kind of drift. For `another type`, `at` selects which other type a field gets. */
    drift(kind: DriftKind, at = 0) {
      change = (body) => drifted(body, kind, at)
    },
    /** Sets a function that changes the body of each successful reply. */
    reply(by: (body: unknown) => unknown) {
      change = by
    },
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]()
      sandbox[Symbol.dispose]()
    },
  }
}
