import type { Secrets } from '../../state/sealing.ts'
import { ConfigError } from './config-error.ts'
import { platformSettings } from './platform.ts'
import { dataFolder, sandboxSettings } from './sandbox.ts'
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

/** Location of the state. */
export type StateLocation = ReturnType<typeof stateLocation>

/** Location and sealing secrets of the state. */
export type StateConfig = ReturnType<typeof stateConfig>

export const stateSettings = withVariables({
  'state-dir': text({
    value: 'FOLDER',
    help: 'Folder of the state: the journal of placed calls, used confirmations, the audit trail and the local token; :memory: keeps nothing.',
    range: "Default: your user's data folder.",
  }),
  'state-url': text({
    value: 'URL',
    help: 'PostgreSQL database for the state, shared by any number of servers: postgres://…; needs --secret or --secret-file. Prefer the variable: others can see flags.',
    isSecret: true,
    blankError: 'is empty. Give the address, or do not set it.',
  }),
  secret: text({
    value: 'TEXT',
    help: 'Secret that signs and encrypts, at least 32 characters; servers on one database share it. Of several, separated by commas, the first signs and all are accepted. Prefer the variable: others can see flags.',
    range: 'Default: made and kept in the --state-dir.',
    isSecret: true,
    blankError: 'is empty. Give the secret, or do not set it.',
  }),
  'secret-file': text({
    value: 'FILE',
    help: 'Secrets in a file, one per line.',
  }),
  'undo-days': number({
    value: 'DAYS',
    help: 'How long a change by a tool can be taken back: earlier values are kept encrypted in the state; 0 keeps none.',
    min: 0,
    max: 365,
    isWhole: true,
    default: 30,
    range: '0 to 365 days; default 30.',
  }),
})

/** Settings that locate the state, for commands that read or change it. */
export const stateLocationSettings = {
  'state-dir': stateSettings['state-dir'],
  'state-url': stateSettings['state-url'],
  // The default location depends on these settings.
  'base-url': platformSettings['base-url'],
  'sandbox-db': sandboxSettings['sandbox-db'],
}

export function stateConfig(texts: SettingTexts) {
  const value = settingReader(stateSettings, texts)
  const [given, file] = [value('secret'), value('secret-file')]
  if (given !== undefined && file !== undefined) {
    throw new ConfigError(`${secretLabel} and ${fileLabel} are both set. Keep one of them.`)
  }
  const location = stateLocation(texts)
  const secrets = secretSource(given, file)
  if (location.databaseUrl !== undefined && secrets === undefined) {
    throw new ConfigError(
      `${urlLabel} needs ${secretLabel} or ${fileLabel}, the same on all servers that use the database. Make one with: openssl rand -base64 32`,
    )
  }
  return {
    ...location,
    secrets,
    /** How long earlier values of changed objects are kept, days; 0: not at all. */
    undoDays: value('undo-days'),
  }
}

/** Where the state is kept: in a database or in a folder. Throws ConfigError. */
export function stateLocation(texts: SettingTexts) {
  const value = settingReader(stateSettings, texts)
  return {
    /** URL of the PostgreSQL database for everything but the local token. May contain a password. */
    databaseUrl: databaseAddress(value('state-url')),
    /**
     * Folder of the local token and, without a database, of the whole state; `:memory:` keeps
     * nothing.
     */
    dir: value('state-dir') ?? defaultStateDir(texts),
  }
}

/** True if nothing outlives the process. */
export const isInMemory = ({ databaseUrl, dir }: StateLocation): boolean =>
  databaseUrl === undefined && dir === ':memory:'

/**
 * Checks the URL of the database. The ConfigError does not repeat it, because it may contain a
 * password.
 */
function databaseAddress(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const url = URL.parse(given)
  if (!url || !['postgres:', 'postgresql:'].includes(url.protocol)) {
    throw new ConfigError(
      `${urlLabel} is not the address of a PostgreSQL database. Write it as postgres://user:password@host:5432/database.`,
    )
  }
  if (url.pathname.length < 2)
    throw new ConfigError(`${urlLabel} names no database: put its name at the end of the address.`)
  return given
}

/**
 * Secrets given by the operator, or the file that holds one per line. The first secret seals; any
 * of them unseals.
 */
function secretSource(
  given: string | undefined,
  file: string | undefined,
): { texts: Secrets } | { file: string } | undefined {
  if (file !== undefined) return { file }
  return given === undefined ? undefined : { texts: secretsIn(given, ',', secretLabel) }
}

const urlLabel = settingLabel(stateSettings, 'state-url')
const secretLabel = settingLabel(stateSettings, 'secret')
const fileLabel = settingLabel(stateSettings, 'secret-file')

const minLength = 32
const maxSecrets = 10

/**
 * Parses secrets. `label`: the setting they come from, for messages; no message repeats a secret.
 * Throws ConfigError.
 */
export function secretsIn(given: string, separator: ',' | '\n', label: string): Secrets {
  const all = given.split(separator).map((secret) => secret.trim())
  const [newest, ...older] = all.filter(Boolean)
  if (newest === undefined) throw new ConfigError(`${label} holds no secret.`)
  if ([newest, ...older].some((secret) => secret.length < minLength)) {
    throw new ConfigError(
      `${label} holds a secret of fewer than ${minLength} characters. Make one with: openssl rand -base64 32`,
    )
  }
  if (older.length >= maxSecrets)
    throw new ConfigError(`${label} holds more than ${maxSecrets} secrets. Remove old ones.`)
  return [newest, ...older]
}

/** Default state folder. A sandbox in memory gets a state in memory. */
function defaultStateDir(texts: SettingTexts): string {
  const value = settingReader(stateLocationSettings, texts)
  const isSandbox = value('base-url') === undefined
  return isSandbox && value('sandbox-db') === ':memory:' ? ':memory:' : dataFolder()
}

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
