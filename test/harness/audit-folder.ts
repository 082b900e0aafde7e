import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { AuditEntry } from '../../src/state/audit-trail.ts'
import { createSqliteAuditTrail } from '../../src/state/sqlite/sqlite-audit-trail.ts'
import { scratchFolder } from './program.ts'

/** A temporary folder for a program's state and audit log, and readers of both. */
export function auditFolder() {
  const folder = scratchFolder()
  const log = join(folder.path, 'audit.jsonl')
  /** Entries of the audit trail in the state, oldest first. */
  const stored = async (name = 'sandbox-audit.db'): Promise<AuditEntry[]> => {
    const trail = createSqliteAuditTrail(join(folder.path, name), '--state-dir')
    const entries = await trail.list({ limit: 1000 })
    await trail.close()
    return entries.reverse()
  }
  return {
    path: folder.path,
    log,
    env: { VOICE_AGENT_STATE_DIR: folder.path },
    stored,
    /** Waits until the trail has `count` entries with an outcome; returns all entries. */
    async ended(count: number, name?: string): Promise<AuditEntry[]> {
      const ended = async () =>
        (await stored(name)).filter(({ outcome }) => outcome !== 'begun').length
      await expect.poll(ended).toBe(count)
      return stored(name)
    },
    lines: (): Record<string, unknown>[] =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line))
        : [],
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}
