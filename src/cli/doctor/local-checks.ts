import { existsSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import type { DialPolicyConfig, QuietHours } from '../../policy/dial-policy-config.ts'
import { readPolicy } from '../../server/call-services.ts'
import { openPlatform } from '../../server/platform.ts'
import { checkSecret } from '../../server/secrets.ts'
import { type InspectedState, inspectCallStop, inspectState } from '../../server/state.ts'
import { callStopText } from '../../state/call-stop.ts'
import { unwritableFile, unwritableFolder } from '../../state/private-files.ts'
import { isObject } from '../../text/json.ts'
import { messageOf } from '../../text/safe-text.ts'
import type { Environment, SettingOrigin } from '../config/given-settings.ts'
import { commandLine } from '../config/launch-command.ts'
import type { UsableConfig } from '../config/service-settings.ts'
import { type AuditConfig, isInMemory, type StateConfig } from '../config/state.ts'
import { type FoundClient, findClients } from '../install/change-client.ts'
import { thisMachine } from '../install/clients.ts'
import { type Check, type Finding, green, notConfigured, red, yellow } from './findings.ts'

/** A setting, with its value and source. */
export interface ShownSetting {
  readonly name: string
  /** `null`: not set and without a fixed default. Secrets are masked. */
  readonly value: string | null
  readonly origin: SettingOrigin | 'default'
  /** The source, for people. */
  readonly from: string
}

/** Reports the given settings, their sources and their errors. */
export const configurationCheck = (
  settings: readonly ShownSetting[],
  faults: readonly string[],
  warnings: readonly string[],
): Check => ({
  name: 'configuration',
  title: 'Configuration',
  run() {
    const set = settings.filter(({ origin }) => origin !== 'default')
    const nameWidth = Math.max(0, ...set.map(({ name }) => name.length))
    // After a fault, values are not shown, because one may be a misplaced secret.
    const details = set.map(
      ({ name, value, from }) =>
        `${name.padEnd(nameWidth)}  ${faults.length > 0 ? 'set' : (value ?? '')}  (${from})`,
    )
    const help = commandLine('help all')
    if (faults.length > 0) {
      const todo = `Correct that. The settings are explained by:\n${help}`
      return red(faults.join(' '), todo, details)
    }
    if (warnings.length > 0) {
      const todo = `Correct the names, or unset the variables. The settings are listed by:\n${help}`
      return yellow(warnings.join(' '), todo, details)
    }
    if (set.length === 0) return green('Nothing is set: everything has its default.')
    const count = set.length === 1 ? '1 setting is' : `${set.length} settings are`
    return green(`${count} set; the others have their defaults.`, details)
  },
})

/** Reports the versions of the program and Node.js. bin.ts refuses an older Node.js. */
export const nodeCheck = (version: string): Check => ({
  name: 'node',
  title: 'Program',
  run: () =>
    green(
      `voice-agent-mcp ${version} with Node.js ${process.versions.node} (${process.execPath}) on ${process.platform} ${process.arch}.`,
    ),
})

/** Checks the state, in a folder or a database. */
export const stateCheck = (
  { state, audit }: Pick<UsableConfig, 'state' | 'audit'>,
  isSandbox: boolean,
): Check => ({
  name: 'state',
  title: 'State',
  async run() {
    if (!state) return notConfigured
    try {
      await checkSecret(state)
      const unwritten = audit && auditLogFault(audit)
      if (unwritten) return unwritten
      if (isInMemory(state)) return nothingKept(isSandbox)
      const found = await inspectState(state, isSandbox)
      return found.kind === 'database' ? databaseFinding(found.database) : folderFinding(found)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return red(error.message, todoFor(state))
    }
  },
})

const todoFor = ({ databaseUrl }: StateConfig) =>
  databaseUrl === undefined
    ? 'Let this program read and write there, or name another folder with --state-dir (VOICE_AGENT_STATE_DIR).'
    : 'Check that the database runs, and its address, user and password in VOICE_AGENT_STATE_URL.'

/** Finding if the audit file is not writable. */
function auditLogFault({ file, mustRecord }: AuditConfig): Finding | undefined {
  if (file === undefined || file === '-') return undefined
  const fault = existsSync(file) ? unwritableFile(file) : unwritableFolder(dirname(file))
  return fault === undefined
    ? undefined
    : red(
        `The audit trail cannot be written: ${fault}.${mustRecord ? ' Nothing is changed without it (--audit-failure refuse).' : ''}`,
        'Let this program write there, or name another file with --audit-log (VOICE_AGENT_AUDIT_LOG).',
      )
}

const nothingKept = (isSandbox: boolean): Finding =>
  isSandbox
    ? green('Nothing is kept (:memory:).')
    : yellow(
        'Nothing is kept (:memory:): after a restart a call that is repeated is placed again, limits begin anew, and the command calls stop does not reach this server.',
        'Name a folder with --state-dir, or a database with --state-url.',
      )

type Database = Extract<InspectedState, { kind: 'database' }>['database']

function databaseFinding(database: Database): Finding {
  const { server, version, mayCreate, clockAheadMs, isClockUsable } = database
  if (!isClockUsable) {
    const seconds = Math.round(Math.abs(clockAheadMs) / 1000)
    return red(
      `The clock of the database and that of this machine differ by ${seconds} s.`,
      'Let both follow the same time (NTP).',
    )
  }
  if (version === undefined) {
    return mayCreate
      ? green(`PostgreSQL ${server}; the first server makes the tables.`)
      : red(
          `PostgreSQL ${server} has no tables of this program, and its user may not make them.`,
          'GRANT CREATE ON DATABASE … to the user in VOICE_AGENT_STATE_URL.',
        )
  }
  return green(`PostgreSQL ${server}, with tables of version ${version}.`)
}

function folderFinding({ folder, files }: Extract<InspectedState, { kind: 'files' }>): Finding {
  const details = files.map(({ file, version, problem }) =>
    problem === undefined ? `${file}: version ${version}` : `${file}: ${problem}`,
  )
  const faults = [
    unwritableFolder(folder),
    ...files.map(({ file }) => unwritableFile(file)),
    ...files.map(({ file, problem }) => problem && `${file} cannot be used: ${problem}`),
  ].filter((fault) => fault !== undefined)
  if (faults.length > 0) {
    return red(
      `${faults.join('; ')}. Without it no call is placed.`,
      'Let this program read and write there; start the version that wrote a file of another version; move a broken file away; or name another folder with --state-dir (VOICE_AGENT_STATE_DIR).',
      details,
    )
  }
  if (!existsSync(folder)) return green(`${folder}, which is made with the first call.`)
  return green(
    files.length === 0 ? `${folder}, where no call is recorded yet.` : `${folder}.`,
    details,
  )
}

type Sandbox = Extract<NonNullable<UsableConfig['platform']>, { kind: 'sandbox' }>

/** Checks that the sandbox's file can be opened or created. */
export async function sandboxFinding(config: Sandbox): Promise<Finding> {
  const { file } = config
  const text = `The built-in sandbox, because neither a key nor an address is set: no real account, nothing is dialled. Its data: ${file}.`
  if (file !== ':memory:' && !existsSync(file)) {
    const fault = unwritableFolder(dirname(file))
    if (fault !== undefined)
      return red(
        `${text} It cannot be used: ${fault}.`,
        'Let this program write there, or name another file with --sandbox-db (VOICE_AGENT_SANDBOX_DB).',
      )
  } else if (file !== ':memory:') {
    try {
      const opened = await openPlatform(config, () => undefined)
      await opened.prepare().finally(() => opened.close())
    } catch (error) {
      return red(`${text} ${messageOf(error)}`, 'Do what the message says, and run this again.')
    }
  }
  return green(`${text} Set VOICE_AGENT_API_KEY and VOICE_AGENT_BASE_URL for your own account.`)
}

/** Reports the dial policy and the confirmation mode. */
export const callsCheck = (
  { calling, state }: Pick<UsableConfig, 'calling' | 'state'>,
  isSandbox: boolean,
): Check => ({
  name: 'calls',
  title: 'Calls',
  async run(): Promise<Finding> {
    if (!calling) return notConfigured
    const { config, source } = readPolicy(calling.policy)
    const stop = state && (await inspectCallStop(state, isSandbox).catch(() => 'unknown' as const))
    if (stop === 'unknown')
      return {
        light: 'yellow',
        text: 'No call is placed while the state cannot be used: see State.',
      }
    if (stop) {
      return yellow(
        callStopText(stop),
        `Let calls be placed again with:\n${commandLine('calls resume')}`,
      )
    }
    const confirmation = confirmations[calling.confirm]
    if (config)
      return green(`By the dial policy in ${source}. ${confirmation}`, policyInWords(config))
    const text = `There is no dial policy: any number may be called, except emergency and premium numbers. ${confirmation}`
    if (isSandbox || calling.confirm !== 'never') return green(text)
    return yellow(
      text,
      'Limit who may be called with --dial-policy (docs/calls.md), or let a person be asked with --confirm auto.',
    )
  },
})

const confirmations: Readonly<Record<NonNullable<UsableConfig['calling']>['confirm'], string>> = {
  always:
    'Each call is confirmed: by a person, or by a second request where no person can be asked.',
  auto: 'Each call is confirmed: by a person, or by a second request where no person can be asked.',
  person: 'Each call is confirmed by a person; where none can be asked, it is refused.',
  never: 'Nobody is asked before a call (--confirm never).',
}

/** A dial policy in words, one sentence per rule. */
function policyInWords(policy: DialPolicyConfig): string[] {
  return [
    ...destinations(policy),
    ...(policy.allow_agents ? [`Only these agents call: ${policy.allow_agents.join(', ')}.`] : []),
    ...(policy.allow_from ? [`Calls come only from ${policy.allow_from.join(', ')}.`] : []),
    ...(policy.quiet_hours ?? []).map(quiet),
    ...limits(policy),
    'Emergency and premium numbers are never called.',
  ]
}

function destinations(policy: DialPolicyConfig): string[] {
  const { allow_countries, allow_prefixes, deny_countries, deny_prefixes } = policy
  const allowed = places(allow_countries, allow_prefixes)
  const denied = places(deny_countries, deny_prefixes)
  return [
    allowed === '' ? 'Calls go to any country.' : `Calls go only ${allowed}.`,
    ...(denied === '' ? [] : [`None goes ${denied}.`]),
  ]
}

const places = (countries: readonly string[] = [], prefixes: readonly string[] = []) =>
  [
    countries.length > 0 ? `to ${countries.map(nameOf).join(', ')}` : '',
    prefixes.length > 0 ? `to numbers that begin with ${prefixes.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join(' or ')

const nameOf = (country: string) =>
  new Intl.DisplayNames('en', { type: 'region' }).of(country) ?? country

const quiet = ({ from, to, days }: QuietHours): string =>
  `No call is placed from ${from} to ${to} where the called telephone is${days ? `, beginning on ${days.join(', ')}` : ''}.`

const spans = [
  ['max_per_minute', 'a minute'],
  ['max_per_hour', 'an hour'],
  ['max_per_day', 'in 24 hours'],
  ['max_at_once', 'at once'],
  ['max_total', 'from the start of a server to its end'],
] as const

function limits(policy: DialPolicyConfig): string[] {
  const set = spans.flatMap(([rule, span]) => {
    const limit = policy[rule]
    return limit === undefined ? [] : [`${limit} ${span}`]
  })
  return set.length === 0 ? ['There is no limit of calls.'] : [`Most calls: ${set.join(', ')}.`]
}

/** Checks which MCP clients on this machine start this server. */
export const clientsCheck = (env: Environment, name: string): Check => ({
  name: 'clients',
  title: 'Clients',
  run(): Finding {
    const found = findClients(thisMachine(env), name).filter(({ isFound }) => isFound)
    if (found.length === 0) return green('No MCP client is found on this machine.')
    const details = found.map((one) => `${one.client.title}: ${stateOf(one)}  (${one.file})`)
    const broken = found.filter((one) => one.problem !== undefined || missingFile(one))
    const having = found.filter(({ hasServer }) => hasServer)
    const text = `${having.length} of ${found.length} that are found ${having.length === 1 ? 'has' : 'have'} the server ${name}.`
    if (broken.length > 0) {
      const ids = broken.map(({ client }) => client.id).join(' ')
      return yellow(
        text,
        `Correct the file that cannot be read, or renew the entry:\n${commandLine(`install ${ids}`)}`,
        details,
      )
    }
    return having.length > 0
      ? green(text, details)
      : yellow(text, `Add it to them:\n${commandLine('install')}`, details)
  },
})

function stateOf(found: FoundClient): string {
  if (found.problem !== undefined) return found.problem
  if (!found.hasServer) return 'does not have it'
  const missing = missingFile(found)
  return missing === undefined
    ? `has it, ${withWhat(found)}`
    : `has it, but ${missing} does not exist any more`
}

/**
 * The platform and API key with which the client starts the server. The environment of this shell
 * does not count.
 */
function withWhat({ client, entry }: FoundClient): string {
  const { args, [client.form.env]: env } = isObject(entry) ? entry : {}
  const words = Array.isArray(args) ? args.map(String) : []
  const flag = (name: string) =>
    words.find((_, at) => words[at - 1] === name) ??
    words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1)
  const variable = isObject(env) ? env.VOICE_AGENT_BASE_URL : undefined
  const address = flag('--base-url') ?? variable
  if (flag('--config') !== undefined) return 'with a file of settings'
  if (client.secret.kind === 'inherited' && address === undefined) return 'with its own environment'
  if (address === undefined) return 'on the sandbox: its entry names no platform'
  return `for ${URL.parse(String(address))?.origin ?? 'an address of its own'}`
}

/** Path of a file that the entry's command needs and that does not exist. */
function missingFile({ client, entry }: FoundClient): string | undefined {
  if (!isObject(entry)) return undefined
  const args = Array.isArray(entry.args) ? entry.args : []
  return [entry[client.form.command], args[0]]
    .filter((part) => typeof part === 'string')
    .find((part) => isAbsolute(part) && !existsSync(part))
}
