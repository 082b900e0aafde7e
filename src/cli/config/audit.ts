import { ConfigError } from './config-error.ts'
import {
  choice,
  number,
  onOff,
  type SettingTexts,
  settingLabel,
  settingReader,
  text,
  withVariables,
} from './setting.ts'
import { isInMemory, type StateConfig } from './state.ts'

/** Audit trail of changes and calls. */
export type AuditConfig = ReturnType<typeof auditConfig>

const maxDays = 3650

export const auditSettings = withVariables({
  'audit-days': number({
    value: 'DAYS',
    help: 'How long the state keeps the audit trail (who changed what, and who called whom); 0 keeps none.',
    min: 0,
    max: maxDays,
    isWhole: true,
    default: 90,
    range: `0 to ${maxDays} days; default 90.`,
  }),
  'audit-log': text({
    value: 'FILE',
    help: 'File to which the audit trail is also written, as JSON lines; - is standard error.',
  }),
  'audit-phone-numbers': onOff({
    help: 'Whether the audit trail has full telephone numbers, not only their last digits.',
    default: 'off',
  }),
  'audit-failure': choice({
    value: 'WHAT',
    help: 'What happens to a change or call that cannot be recorded. continue: it is made, and the log has an error; refuse: it is not made.',
    choices: ['continue', 'refuse'],
    default: 'continue',
  }),
})

/** Throws ConfigError if changes must be recorded, but no audit trail is configured. */
export function auditConfig(texts: SettingTexts, state: StateConfig) {
  const value = settingReader(auditSettings, texts)
  const days = isInMemory(state) ? 0 : value('audit-days')
  const file = value('audit-log')
  const mustRecord = value('audit-failure') === 'refuse'
  if (mustRecord && days === 0 && file === undefined) {
    const [failure, kept, log] = (['audit-failure', 'audit-days', 'audit-log'] as const).map(
      (name) => settingLabel(auditSettings, name),
    )
    throw new ConfigError(
      `${failure} is refuse, but nothing is recorded. Let the state keep the audit trail (${kept}), or set ${log}.`,
    )
  }
  return {
    /** Retention in the state, days; 0: entries are not stored there. */
    days,
    /** File of JSON lines; `-`: standard error. */
    file,
    showsNumbers: value('audit-phone-numbers'),
    /** If true, changes that cannot be recorded are refused. */
    mustRecord,
  }
}
