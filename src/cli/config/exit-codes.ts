/** Exit codes of the commands. Only `call` uses all of them: see docs/command-line.md. */
export const exitCodes = {
  done: 0,
  /** Nothing was done, or only a part. */
  failed: 1,
  /** The command line or the arguments are wrong; nothing was sent. */
  usage: 2,
  /** Declined by a person or refused by this server; nothing was done. */
  refused: 3,
  /** The outcome is unknown. */
  unknown: 4,
  /** Ended by Ctrl+C; the code that shells report. */
  interrupted: 130,
} as const
