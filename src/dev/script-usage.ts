/** How a script tells its usage: when asked, and with why where it cannot follow a command line. */
export interface ScriptUsage {
  /** Ends the run with exit code 2. */
  refuse(why: string): never
  /** What `read` gives; where it throws, the run is refused. */
  readOr<T>(read: () => T): T
  /** Prints the usage and ends the run, if that was asked for. */
  showIf(isAsked: boolean): void
  /** A number from `least` up; the run is refused where `text` is none. */
  number(flag: string, text: string, least?: number): number
}

export function scriptUsage(usage: string): ScriptUsage {
  function refuse(why: string): never {
    process.stderr.write(`${why}\n\n${usage}`)
    process.exit(2)
  }
  return {
    refuse,
    readOr(read) {
      try {
        return read()
      } catch (error) {
        return refuse(error instanceof Error ? error.message : String(error))
      }
    },
    showIf(isAsked) {
      if (!isAsked) return
      process.stdout.write(usage)
      process.exit(0)
    },
    number(flag, text, least = 0) {
      const value = text.trim() === '' ? Number.NaN : Number(text)
      if (value >= least) return value
      return refuse(`--${flag} is a number from ${least} up.`)
    },
  }
}
