import { auditQuery, auditQuerySettings } from '../../config/audit-query.ts'
import { ConfigError } from '../../config/config-error.ts'
import { exitCodes } from '../../config/exit-codes.ts'
import { jsonSettings } from '../../config/json-flag.ts'
import { platformSettings } from '../../config/platform.ts'
import { sandboxSettings } from '../../config/sandbox.ts'
import { settingReader } from '../../config/setting.ts'
import { type StateLocation, stateLocation, stateSettings } from '../../config/state.ts'
import type { AuditQuery } from '../../state/audit-trail.ts'
import { defineCommand, ending, type Running } from './command.ts'

interface AuditCommandConfig {
  readonly state: StateLocation
  readonly isSandbox: boolean
  readonly query: AuditQuery
  readonly wantsJson: boolean
}

export const audit = defineCommand({
  name: 'audit',
  about: 'Print the audit trail: who changed what and who called whom, the newest first.',
  examples: ['audit --since 7d', 'audit --tool place_call --outcome failed --json'],
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
      wantsJson: settingReader(jsonSettings, texts)('json'),
    }
  },
  async start(config): Promise<Running> {
    // Not from its own file: as a part of its own it would split what every start loads.
    const [{ openState }, { printAuditTrail }] = await Promise.all([
      import('../../service/service.ts'),
      import('../print-audit-trail.ts'),
    ])
    const state = await openState(config.state, config)
    return ending(
      printAuditTrail(state.audit, config)
        .then(() => exitCodes.done)
        .finally(() => state.close()),
    )
  },
})
