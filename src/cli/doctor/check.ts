/**
 * What a check comes to. `green`: it works; `yellow`: it works, and there is something to know; `red`:
 * it does not work; `skipped`: it was not checked.
 */
export type Light = 'green' | 'yellow' | 'red' | 'skipped'

export interface Finding {
  readonly light: Light
  /** What was found, in a sentence or two. */
  readonly text: string
  /** More of it, a line each. */
  readonly details?: readonly string[]
  /** What to do about it. */
  readonly todo?: string
}

/** One thing that is checked. The checks run at the same time, and none ends the others. */
export interface Check {
  /** Its name for programs. */
  readonly name: string
  /** Its name for people. */
  readonly title: string
  readonly run: () => Finding | Promise<Finding>
}

export const green = (text: string, details?: readonly string[]): Finding => ({
  light: 'green',
  text,
  ...(details && { details }),
})

export const skipped = (text: string): Finding => ({ light: 'skipped', text })

/** For what needs a part of the configuration that cannot be used. */
export const notConfigured = skipped('Not checked: see Configuration.')

/** The checks of a platform on the network: their names for programs, with those for people. */
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

/** For a check that another one's failure has prevented. */
export const seeOther = (name: PlatformCheckName): Finding =>
  skipped(`Not checked: see ${platformCheckTitles[name]}.`)
