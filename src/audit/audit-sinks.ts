import { appendFile, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { AuditEntry, AuditTrail } from '../state/audit-trail.ts'
import { safeJson } from '../text/safe-text.ts'
import type { AuditSink } from './audit-queue.ts'

const dayMs = 24 * 3_600_000

/** How often entries that are too old are deleted, ms, and how many at once. */
const pruning = { everyMs: 3_600_000, atOnce: 500 } as const

/** The trail in the state, in which entries stay for so many days. */
export function stateSink(trail: AuditTrail, days: number): AuditSink {
  let pruned = Number.NEGATIVE_INFINITY
  let isPruning = false
  const prune = async () => {
    if (isPruning || performance.now() - pruned < pruning.everyMs) return
    isPruning = true
    try {
      const count = await trail.prune(Date.now() - days * dayMs, pruning.atOnce)
      // The rest follows with the next entries: no request waits for a long deletion.
      if (count < pruning.atOnce) pruned = performance.now()
    } finally {
      isPruning = false
    }
  }
  return {
    name: 'in the state',
    takesProgress: true,
    async save(entry) {
      await trail.save(entry)
      await prune()
    },
  }
}

/**
 * Lines of JSON at the end of a file. It is opened for each line, so it may be moved away or deleted at any
 * time. Only its user can read it.
 */
export const fileSink = (path: string): AuditSink => ({
  name: `in ${path}`,
  takesProgress: false,
  async save(entry) {
    await appendFile(path, auditLine(entry), { mode: 0o600 }).catch(async (error: unknown) => {
      if (!isMissing(error)) throw error
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await appendFile(path, auditLine(entry), { mode: 0o600 })
    })
  },
})

const isMissing = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Most bytes that wait for a reader. */
const mostUnread = 1024 * 1024

/** Lines of JSON to a stream, such as standard error. */
export const streamSink = (
  stream: Pick<NodeJS.WritableStream, 'write'> & { readonly writableLength: number },
): AuditSink => ({
  name: 'on standard error',
  takesProgress: false,
  async save(entry) {
    if (stream.writableLength > mostUnread) throw new Error('nobody reads it')
    stream.write(auditLine(entry))
  },
})

/** An entry in the form of the other lines of a JSON log. */
const auditLine = ({ time, ...entry }: AuditEntry): string =>
  `${safeJson(JSON.stringify({ time, level: 'notice', event: 'audit', ...entry }))}\n`
