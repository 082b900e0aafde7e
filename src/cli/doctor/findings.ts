import { styleText } from 'node:util'
import { redactor } from '../../platform/key-free.ts'
import { safeJsonLines, safeLine } from '../../text/safe-text.ts'
import { wrapped } from '../config/help.ts'

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
  /** What to do about it; a command to copy stands on a line of its own, the last. */
  readonly todo?: string
}

/** One check. All run at the same time, and the failure of one does not end the others. */
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

/** It works, and there is something to know. */
export const yellow = (text: string, todo: string, details?: readonly string[]): Finding => ({
  ...{ light: 'yellow', text, todo },
  ...(details && { details }),
})

/** It does not work. */
export const red = (text: string, todo: string, details?: readonly string[]): Finding => ({
  ...yellow(text, todo, details),
  light: 'red',
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

export interface Result extends Pick<Check, 'name' | 'title'>, Finding {
  /** How long it took, ms. */
  readonly ms: number
}

const words: Readonly<Record<Light, string>> = {
  green: 'ok',
  yellow: 'warning',
  red: 'ERROR',
  skipped: '-',
}
const wordWidth = Math.max(...Object.values(words).map((word) => word.length)) + 2
const titleWidth = 15

const colours = { green: 'green', yellow: 'yellow', red: 'red', skipped: 'dim' } as const

/** Lines for a person, of at most `width` columns. In colours on a terminal, and not with NO_COLOR. */
export function resultLines(
  { light, title, text, details, todo }: Result,
  width: number,
): string[] {
  const indent = ' '.repeat(wordWidth + titleWidth)
  const [advice, command] = todo?.split('\n') ?? []
  const body = [
    ...paragraph(withoutOurWords(text), width),
    ...shownDetails(details ?? []).flatMap((line) =>
      paragraph(withoutOurWords(line), width).map((one) => `  ${one}`),
    ),
    ...(advice === undefined ? [] : paragraph(`${ourWords} ${advice}`, width)),
    // Not broken, so that it can be copied.
    ...(command === undefined ? [] : [`  ${safeLine(command)}`]),
  ]
  const word = words[light]
  const coloured = styleText(colours[light], word, { stream: process.stdout })
  const head = coloured + ' '.repeat(wordWidth - word.length) + title.padEnd(titleWidth)
  return body.map((line, at) => (at === 0 ? head : indent) + line)
}

/** Most details that a person is shown. */
const maxDetails = 20

const shownDetails = (details: readonly string[]): readonly string[] =>
  details.length <= maxDetails
    ? details
    : [
        ...details.slice(0, maxDetails),
        `and ${details.length - maxDetails} more, which --json shows`,
      ]

/** What begins a line with advice. */
const ourWords = 'To do:'

/** Findings repeat texts of the platform: one that has these words is no advice. */
const withoutOurWords = (text: string) => text.replaceAll(/to\s*do\s*:/gi, '"$&"')

/** Lines of a text. All but the first are indented: only our own words begin a line further left. */
const paragraph = (text: string, width: number) =>
  // Spaces of other kinds would not be wrapped here, but by the terminal.
  wrapped(
    safeLine(text).replaceAll(/\p{Zs}/gu, ' '),
    Math.max(30, width - wordWidth - titleWidth - 4),
  )
    .filter((line) => line !== '')
    .map((line, at) => (at === 0 ? line : `  ${line}`))

export function resultsJson(version: string, results: readonly Result[]): string {
  const checks = results.map(({ light, details, todo, ms, ...rest }) => ({
    ...rest,
    status: light,
    details: details ?? [],
    todo: todo?.replace('\n', ' ') ?? null,
    ms: Math.round(ms),
  }))
  return safeJsonLines({ version, status: worst(results), checks })
}

export function worst(results: readonly Result[]): Light {
  const lights = results.map(({ light }) => light)
  return (['red', 'yellow'] as const).find((one) => lights.includes(one)) ?? 'green'
}

/** The last lines for a person. */
export function summary(results: readonly Result[], width: number): string[] {
  const count = (light: Light, one: string) => {
    const found = results.filter((result) => result.light === light).length
    return found === 0 ? '' : `${found} ${one}${found === 1 ? '' : 's'}`
  }
  const found = [count('red', 'error'), count('yellow', 'warning')].filter(Boolean)
  const left = results.filter(({ light }) => light === 'skipped').map(({ title }) => title)
  return [
    '',
    ...(left.length === 0 ? [] : wrapped(`Not checked: ${left.join(', ')}.`, width)),
    found.length === 0 ? 'Everything that was checked works.' : `${found.join(', ')}.`,
  ]
}

/** A shorter one may be a usual word. */
const shortestSecret = 8

/**
 * Removes secrets from a result: the settings that are marked as secret, and passwords in addresses.
 * No check repeats them; this holds for what others say, such as a platform or a database.
 */
export function secretFree({
  secrets,
  env,
}: {
  readonly secrets: readonly string[]
  readonly env: NodeJS.ProcessEnv
}): (result: Result) => Result {
  const addresses = [...secrets, env.HTTPS_PROXY ?? '', env.https_proxy ?? '']
  const passwords = addresses.flatMap((text) => {
    const password = URL.parse(text)?.password
    // Only as a part of an address: a password may be any word.
    return password ? [password, decoded(password)].map((one) => `:${one}@`) : []
  })
  const keys = secrets.flatMap((secret) => [secret, ...secret.split(',').map((one) => one.trim())])
  const redactors = [...new Set(keys)]
    .filter((key) => key.length >= shortestSecret)
    .toSorted((a, b) => b.length - a.length)
    .map(redactor)
  const free = (text: string) =>
    redactors.reduce(
      (rest, redact) => redact(rest),
      passwords.reduce((rest, password) => rest.replaceAll(password, ':[password]@'), text),
    )
  return (result) => ({
    ...result,
    text: free(result.text),
    ...(result.details && { details: result.details.map(free) }),
    ...(result.todo !== undefined && { todo: free(result.todo) }),
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
