/** Exit codes of the commands; docs/command-line.md explains those of `call`, which has all of them. */
export const exitCodes = {
  done: 0,
  /** Nothing was done, or only a part of it. */
  failed: 1,
  /** The command line or the arguments are wrong; nothing was sent. */
  usage: 2,
  /** A person or this server has not agreed; nothing was done. */
  refused: 3,
  /** It is not known whether it was done. */
  unknown: 4,
  /** Ended by Ctrl+C, as shells report it. */
  interrupted: 130,
} as const

/** The configuration cannot be used; the message says what to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly exitCode: number = exitCodes.failed
}

/** The command line names an unknown command, flag or value. */
export class CommandLineError extends ConfigError {
  override readonly exitCode = exitCodes.usage
}

/** What is wrong, from all that these throw as ConfigError. */
export function faultsOf(checks: readonly (() => unknown)[]): string[] {
  const faults = new Set<string>()
  for (const check of checks) {
    try {
      check()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      faults.add(error.message)
    }
  }
  return [...faults]
}

/** Throws all that is wrong as one error. Throws ConfigError. */
export function throwFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw new ConfigError(faults.join(' '))
}

/** Why a file named by a person cannot be read, as a clause. */
export function readFault(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
}
