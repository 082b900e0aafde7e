import type { AuditQuery } from '../state/audit-trail.ts'
import { ConfigError } from './config-error.ts'
import {
  count,
  optionalChoice,
  type Setting,
  type SettingTexts,
  settingReader,
  text,
} from './setting.ts'

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const

const isUnit = (unit: string): unit is keyof typeof unitsMs => Object.hasOwn(unitsMs, unit)

/** A time: so long ago, or a date. Its value is in ms since 1970. */
const instant = (help: string): Setting<number | undefined> => ({
  variable: undefined,
  value: 'TIME',
  help,
  range: 'So long ago, such as 30m, 12h or 7d, or a date, such as 2026-11-22 or 2026-11-22T08:00Z.',
  json: { type: 'string' },
  parse(given, label) {
    if (given === undefined) return undefined
    const [, amount, unit = ''] = /^(\d{1,6})([a-z])$/.exec(given) ?? []
    if (amount !== undefined && isUnit(unit)) return Date.now() - Number(amount) * unitsMs[unit]
    const time = /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : Number.NaN
    if (Number.isFinite(time)) return time
    throw new ConfigError(
      `${label} takes a time: so long ago, such as 12h or 7d, or a date, such as 2026-11-22T08:00Z.`,
    )
  },
})

/** Which entries of the audit trail are printed. */
export const auditQuerySettings = {
  since: instant('Only what began at this time or later.'),
  until: instant('Only what began before this time.'),
  tool: text({ variable: undefined, value: 'NAME', help: 'Only calls of this tool.' }),
  outcome: optionalChoice({
    variable: undefined,
    value: 'WORD',
    help: 'Only what came to this.',
    choices: ['done', 'unchanged', 'partly', 'refused', 'failed', 'unknown', 'begun'],
    range:
      'done, unchanged, partly, refused, failed, unknown or begun (it has not ended, or its server did).',
  }),
  'key-hash': text({
    variable: undefined,
    value: 'HASH',
    help: 'Only what was done with this key, by the beginning of its hash.',
  }),
  limit: count({
    variable: undefined,
    help: 'Print at most so many, the newest.',
    least: 0,
    default: 100,
  }),
}

export function auditQuery(texts: SettingTexts): AuditQuery {
  const value = settingReader(auditQuerySettings, texts)
  return {
    since: value('since'),
    until: value('until'),
    tool: value('tool'),
    outcome: value('outcome'),
    key: value('key-hash'),
    limit: value('limit') === 0 ? Number.MAX_SAFE_INTEGER : value('limit'),
  }
}
