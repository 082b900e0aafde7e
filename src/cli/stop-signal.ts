import { exitCodes } from '../config/exit-codes.ts'

/**
 * Resolves with the first SIGINT, SIGTERM, or SIGHUP (the terminal is closed). A second one ends the
 * process at once.
 */
export function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isStopping = false
  const listen = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', exitCode: number) =>
    process.on(signal, () => {
      if (isStopping) process.exit(exitCode)
      isStopping = true
      resolve()
    })
  // The exit codes that a shell reports for a process that a signal ended: 128 + the signal's number.
  listen('SIGINT', exitCodes.interrupted)
  listen('SIGTERM', 143)
  listen('SIGHUP', 129)
  return promise
}
