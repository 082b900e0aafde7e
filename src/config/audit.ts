import { ConfigError } from './config-error.ts'
import {
  choice,
  number,
  onOff,
  type SettingTexts,
  settingLabel,
  settingReader,
  text,
} from './setting.ts'
import type { StateConfig } from './state.ts'

/** What is recorded of changes and calls, and where. */
export interface AuditConfig {
  /** How long entries stay in the state, days; 0: none are kept there. */
  readonly days: number
  /** File of JSON lines; `-`: standard error. */
  readonly file: string | undefined
  readonly showsNumbers: boolean
  /** Nothing is changed that cannot be recorded. */
  readonly mustRecord: boolean
}

const mostDays = 3650

export const auditSettings = {
  'audit-days': number({
    variable: 'VOICE_AGENT_AUDIT_DAYS',
    value: 'DAYS',
    help: 'How long the audit trail (who changed what, and who called whom) stays in the --state-dir or the database; 0 keeps none.',
    least: 0,
    most: mostDays,
    isWhole: true,
    default: 90,
    range: `0 to ${mostDays} days; default 90.`,
  }),
  'audit-log': text({
    variable: 'VOICE_AGENT_AUDIT_LOG',
    value: 'FILE',
    help: 'File to which the audit trail is also written, as JSON lines; - is standard error.',
  }),
  'audit-phone-numbers': onOff({
    variable: 'VOICE_AGENT_AUDIT_PHONE_NUMBERS',
    help: 'Whether the audit trail has telephone numbers in full, not only their last digits.',
    default: 'off',
  }),
  'audit-failure': choice({
    variable: 'VOICE_AGENT_AUDIT_FAILURE',
    value: 'WHAT',
    help: 'What happens to a change or call that cannot be recorded. continue: it is made, and the log says so; refuse: it is not made.',
    choices: ['continue', 'refuse'],
    default: 'continue',
  }),
}

/** Throws ConfigError where changes must be recorded, and nothing records them. */
export function auditConfig(texts: SettingTexts, state: StateConfig): AuditConfig {
  const value = settingReader(auditSettings, texts)
  const keepsState = state.databaseUrl !== undefined || state.dir !== ':memory:'
  const days = keepsState ? value('audit-days') : 0
  const file = value('audit-log')
  const mustRecord = value('audit-failure') === 'refuse'
  if (mustRecord && days === 0 && file === undefined) {
    const [failure, kept, log] = (['audit-failure', 'audit-days', 'audit-log'] as const).map(
      (name) => settingLabel(auditSettings, name),
    )
    throw new ConfigError(
      `${failure} is refuse, but nothing is recorded: the state keeps no audit trail (${kept}), and there is no ${log}.`,
    )
  }
  return { days, file, showsNumbers: value('audit-phone-numbers'), mustRecord }
}
