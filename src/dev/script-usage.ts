/** How a script answers a command line that it cannot follow: with why, and its usage. */
export interface ScriptUsage {
  /** Ends the run with exit code 2. */
  refuse(why: string): never
  /** What `read` gives; where it throws, the run is refused. */
  readOr<T>(read: () => T): T
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
  }
}
