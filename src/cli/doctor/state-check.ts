import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { AuditConfig } from '../../config/audit.ts'
import type { StateConfig } from '../../config/state.ts'
import type { UsableConfig } from '../../config/usable-config.ts'
import type { InspectedState, Inspection } from '../../service/inspection.ts'
import { unwritableFile, unwritableFolder } from '../../state/sqlite/writable.ts'
import { type Check, type Finding, green, notConfigured } from './check.ts'

/** What outlives a request: in a folder, or in a database. */
export const stateCheck = (
  { state, audit }: Pick<UsableConfig, 'state' | 'audit'>,
  isSandbox: boolean,
  inspection: Inspection,
): Check => ({
  name: 'state',
  title: 'State',
  async run() {
    if (!state) return notConfigured
    try {
      await inspection.readSecret(state)
      const unwritten = audit && auditLogFault(audit)
      if (unwritten) return unwritten
      if (state.databaseUrl === undefined && state.dir === ':memory:') return nothingKept(isSandbox)
      const found = await inspection.inspectState(state, { isSandbox })
      return found.kind === 'database' ? databaseFinding(found.database) : folderFinding(found)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      return { light: 'red', text: error.message, todo: todoFor(state) }
    }
  },
})

const todoFor = ({ databaseUrl }: StateConfig) =>
  databaseUrl === undefined
    ? 'Let this program read and write there, or name another folder with --state-dir (VOICE_AGENT_STATE_DIR).'
    : 'Check that the database runs, and its address, user and password in VOICE_AGENT_STATE_URL.'

/** The file of the audit trail cannot be written. */
function auditLogFault({ file, mustRecord }: AuditConfig): Finding | undefined {
  if (file === undefined || file === '-') return undefined
  const fault = existsSync(file) ? unwritableFile(file) : unwritableFolder(dirname(file))
  return fault === undefined
    ? undefined
    : {
        light: 'red',
        text: `The audit trail cannot be written: ${fault}.${mustRecord ? ' Nothing is changed without it (--audit-failure refuse).' : ''}`,
        todo: 'Let this program write there, or name another file with --audit-log (VOICE_AGENT_AUDIT_LOG).',
      }
}

const nothingKept = (isSandbox: boolean): Finding =>
  isSandbox
    ? green('Nothing is kept (:memory:).')
    : {
        light: 'yellow',
        text: 'Nothing is kept (:memory:): after a restart a call that is repeated is placed again, and limits begin anew.',
        todo: 'Name a folder with --state-dir, or a database with --state-url.',
      }

type Database = Extract<InspectedState, { kind: 'database' }>['database']

function databaseFinding(database: Database): Finding {
  const { server, version, knownVersion, mayCreate, clockAheadMs, isClockUsable } = database
  if (!isClockUsable) {
    const seconds = Math.round(Math.abs(clockAheadMs) / 1000)
    return {
      light: 'red',
      text: `The clock of the database and that of this machine differ by ${seconds} s.`,
      todo: 'Let both follow the same time (NTP).',
    }
  }
  if (version === undefined) {
    return mayCreate
      ? green(`PostgreSQL ${server}; the first server makes the tables.`)
      : {
          light: 'red',
          text: `PostgreSQL ${server} has no tables of this program, and its user may not make them.`,
          todo: 'GRANT CREATE ON DATABASE … to the user in VOICE_AGENT_STATE_URL.',
        }
  }
  const next =
    version < knownVersion
      ? `; the next server that starts brings them to version ${knownVersion}`
      : ''
  return green(`PostgreSQL ${server}, with tables of version ${version}${next}.`)
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
    return {
      light: 'red',
      text: `${faults.join('; ')}. Without it no call is placed.`,
      details,
      todo: 'Let this program read and write there; start the version that wrote a file of another version; move a broken file away; or name another folder with --state-dir (VOICE_AGENT_STATE_DIR).',
    }
  }
  if (!existsSync(folder)) return green(`${folder}, which is made with the first call.`)
  return green(files.length === 0 ? `${folder}, still empty.` : `${folder}.`, details)
}

/** Why a thing cannot be used, in sentences, and what to do. */
interface Fault {
  readonly text: string
  readonly todo: string
}

/** The sandbox in place of the platform: its file can be opened, or made. */
export const sandboxFault = async (
  file: string,
  open: () => Promise<void>,
): Promise<Fault | undefined> => {
  if (file === ':memory:') return undefined
  if (!existsSync(file)) {
    const fault = unwritableFolder(dirname(file))
    return fault === undefined
      ? undefined
      : {
          text: `It cannot be used: ${fault}.`,
          todo: 'Let this program write there, or name another file with --sandbox-db (VOICE_AGENT_SANDBOX_DB).',
        }
  }
  return open().then(
    () => undefined,
    (error: unknown) => ({
      text: error instanceof Error ? error.message : String(error),
      todo: 'Do what the message says, and run this again.',
    }),
  )
}
