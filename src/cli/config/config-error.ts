import { exitCodes } from './exit-codes.ts'

/** Thrown for an invalid configuration. The message says how to fix it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly exitCode: number = exitCodes.failed
}

/** Thrown for an unknown command, flag or value on the command line. */
export class CommandLineError extends ConfigError {
  override readonly exitCode = exitCodes.usage
}

/** Runs checks that throw ConfigError. Returns the messages, without duplicates. */
export const faultsOf = (checks: readonly (() => unknown)[]): string[] => readable(checks).faults

/** Throws all faults as one ConfigError. */
export function throwFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw new ConfigError(faults.join(' '))
}

/** Reads all parts of a configuration. Throws the faults of all parts as one ConfigError. */
export function readAll<T extends object>(parts: { readonly [N in keyof T]: () => T[N] }): T {
  const { parts: read, faults } = readable(parts)
  throwFaults(faults)
  // Without a fault, every part was read.
  return read as T
}

/**
 * Reads the valid parts of a configuration, and collects the faults of the others without
 * duplicates.
 */
export function readable<T extends object>(parts: { readonly [N in keyof T]: () => T[N] }) {
  const read: { [N in keyof T]?: T[N] } = {}
  const faults = new Set<string>()
  for (const name in parts) {
    try {
      read[name] = parts[name]()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      faults.add(error.message)
    }
  }
  return { parts: read, faults: [...faults] }
}

/** Reason why a user's file cannot be read, as a clause. */
export function readFault(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
}
