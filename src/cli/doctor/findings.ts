/**
 * Status of a check. `green`: passed; `yellow`: passed with a warning; `red`: failed; `skipped`:
 * not checked.
 */
export type Light = 'green' | 'yellow' | 'red' | 'skipped'

export interface Finding {
  readonly light: Light
  /** The finding in one or two sentences. */
  readonly text: string
  /** Details, one per line. */
  readonly details?: readonly string[]
  /** Remedy. The last line may be a command to copy, without other text. */
  readonly todo?: string
}

/**
 * One check. All checks run concurrently. A check that needs the result of a failed one reports
 * `seeOther`.
 */
export interface Check {
  /** Name in JSON. */
  readonly name: string
  /** Title for people. */
  readonly title: string
  readonly run: () => Finding | Promise<Finding>
}

export const green = (text: string, details?: readonly string[]): Finding => ({
  light: 'green',
  text,
  ...(details && { details }),
})

/** Passed with a warning. */
export const yellow = (text: string, todo: string, details?: readonly string[]): Finding => ({
  ...{ light: 'yellow', text, todo },
  ...(details && { details }),
})

export const red = (text: string, todo: string, details?: readonly string[]): Finding => ({
  ...yellow(text, todo, details),
  light: 'red',
})

export const skipped = (text: string): Finding => ({ light: 'skipped', text })

/** Finding for a check whose settings are invalid. */
export const notConfigured = skipped('Not checked: see Configuration.')

/** Titles of the checks of a remote platform, by their names in JSON. */
export const platformCheckTitles = {
  platform: 'Platform',
  dns: 'DNS',
  proxy: 'Proxy',
  tls: 'TLS',
  latency: 'Latency',
  api_key: 'API key',
  account: 'Account',
  clock: 'Clock',
  contract: 'API contract',
} as const

export type PlatformCheckName = keyof typeof platformCheckTitles

export const checkNamed = (name: PlatformCheckName, run: Check['run']): Check => ({
  name,
  title: platformCheckTitles[name],
  run,
})

/** Finding for a check that did not run. The check `name` says why. */
export const seeOther = (name: PlatformCheckName): Finding =>
  skipped(`Not checked: see ${platformCheckTitles[name]}.`)

export interface Result extends Pick<Check, 'name' | 'title'>, Finding {
  /** Duration, ms. */
  readonly ms: number
}
