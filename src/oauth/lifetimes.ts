const minute = 60
const day = 24 * 60 * minute

/** How long things are valid, s. */
export const lifetimes = {
  /** A person finds the key and decides. */
  interaction: 30 * minute,
  code: minute,
  accessToken: 60 * minute,
  /** Unused; each use gives a new one. */
  refreshToken: 30 * day,
  /** Then a person has to allow access again. */
  grant: 365 * day,
} as const
