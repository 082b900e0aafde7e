import { once } from 'node:events'
import { auditQuery, auditQuerySettings } from '../../config/audit-query.ts'
import { ConfigError } from '../../config/config-error.ts'
import { jsonSettings } from '../../config/json-flag.ts'
import { platformSettings } from '../../config/platform.ts'
import { sandboxSettings } from '../../config/sandbox.ts'
import { settingReader } from '../../config/setting.ts'
import { type StateLocation, stateLocation, stateSettings } from '../../config/state.ts'
import type { AuditEntry, AuditQuery, AuditTrail } from '../../state/audit-trail.ts'
import { defineCommand, type Running } from './command.ts'

interface AuditCommandConfig {
  readonly state: StateLocation
  readonly isSandbox: boolean
  readonly query: AuditQuery
  readonly wantsJson: boolean
}

export const audit = defineCommand({
  name: 'audit',
  about: 'Print the audit trail: who changed what and who called whom, the newest first.',
  settings: {
    ...auditQuerySettings,
    ...jsonSettings,
    'state-dir': stateSettings['state-dir'],
    'state-url': stateSettings['state-url'],
    'base-url': platformSettings['base-url'],
    'sandbox-db': sandboxSettings['sandbox-db'],
  },
  read(texts): AuditCommandConfig {
    const state = stateLocation(texts)
    if (state.databaseUrl === undefined && state.dir === ':memory:')
      throw new ConfigError('A state in :memory: keeps no audit trail: name its --state-dir.')
    return {
      state,
      isSandbox: settingReader(platformSettings, texts)('base-url') === undefined,
      query: auditQuery(texts),
      wantsJson: settingReader(jsonSettings, texts)('json') === 'true',
    }
  },
  async start(config): Promise<Running> {
    const { openState } = await import('../../service/state.ts')
    const state = await openState(config.state, config)
    return {
      done: print(state.audit, config).finally(() => state.close()),
      close: async () => undefined,
    }
  },
})

/** How many entries are read at once. */
const pageSize = 500

async function print(trail: AuditTrail, { query, wantsJson }: AuditCommandConfig): Promise<void> {
  const { auditLines } = await import('../audit-table.ts')
  let isFirst = true
  for await (const page of pagesOf(trail, query)) {
    await write(auditLines(page, { wantsJson, isFirst }))
    isFirst = false
  }
  if (isFirst && !wantsJson) await write(['The audit trail has no such entry.'])
}

async function* pagesOf(trail: AuditTrail, query: AuditQuery): AsyncGenerator<AuditEntry[]> {
  let before: AuditEntry | undefined
  let left = query.limit
  while (left > 0) {
    const page = await trail.list({ ...query, before, limit: Math.min(left, pageSize) })
    if (page.length === 0) return
    yield page
    left -= page.length
    before = page.at(-1)
  }
}

/** A reader that is slow is waited for; one that has gone needs no more. */
async function write(lines: readonly string[]): Promise<void> {
  const { stdout } = process
  if (stdout.write(`${lines.join('\n')}\n`) || stdout.destroyed) return
  await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => undefined)
}
