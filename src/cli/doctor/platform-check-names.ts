import { type Check, type Finding, skipped } from './check.ts'

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
