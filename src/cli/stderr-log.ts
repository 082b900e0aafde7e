import { createLog, type Log, type LogLevel, type LogOptions } from '../observe/log.ts'

/** Until the settings are read, the log has its default form. */
const defaultLog = createLog({ form: 'text', level: 'notice' }, process.stderr)

/*
 * The log goes to standard error: standard output is for protocol messages only.
 */
let current: Log = defaultLog
let options: LogOptions | undefined

/** Writes one line, such as a warning, to the log. */
export const log = (message: string, level?: LogLevel): void => current.line(message, level)

/** Gives the log the form that the settings ask for. */
export function setUpLog(wanted: LogOptions): Log {
  current = createLog(wanted, process.stderr)
  // What Node itself would write would not be JSON.
  if (wanted.form === 'json' && options?.form !== 'json') logOfNode()
  options = wanted
  return current
}

/** Writes why the program ends, also where there is no log. `form` counts until the log is set up. */
export function logEnd(message: string, form: 'json' | 'text'): void {
  if (!options) setUpLog({ form, level: 'notice' })
  const written = options?.form === 'off' ? defaultLog : current
  written.line(message, 'error')
}

/** Node 22 warns at every start that SQLite is experimental. All other warnings are shown. */
export function silenceSqliteWarning(): void {
  const shown = process.listeners('warning')
  onWarning((warning) => {
    for (const show of shown) show(warning)
  })
}

/** Receives the warnings of Node.js, which it does not write itself then. */
function onWarning(show: (warning: Error) => void): void {
  const isExpected = ({ name, message }: Error) =>
    name === 'ExperimentalWarning' && /SQLite/.test(message)
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (!isExpected(warning)) show(warning)
  })
}

/** Writes the warnings of Node.js, and an error that nothing has caught, to the log. */
function logOfNode(): void {
  onWarning(({ name, message }) => log(`${name}: ${message}`, 'warn'))
  process.on('uncaughtException', (error) => {
    log(error instanceof Error ? (error.stack ?? error.message) : String(error), 'error')
    process.exit(1)
  })
}
