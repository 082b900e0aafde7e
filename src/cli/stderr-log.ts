import { createLog, type Log, type LogLevel, type LogOptions } from '../observe/log.ts'

/*
 * The log goes to standard error: standard output is for protocol messages only. Until the settings
 * are read, it has its default form.
 */
let current: Log = createLog({ form: 'text', level: 'notice' }, process.stderr)

/** Writes one line, such as a warning, to the log. */
export const log = (message: string, level?: LogLevel): void => current.line(message, level)

/** Gives the log the form that the settings ask for. */
export function setUpLog(options: LogOptions): Log {
  current = createLog(options, process.stderr)
  return current
}
