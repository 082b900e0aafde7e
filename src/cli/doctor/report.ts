import { styleText } from 'node:util'
import { redactor } from '../../platform/key-redaction.ts'
import { safeJsonLines, safeLine } from '../../text/safe-text.ts'
import { wrapped } from '../terminal/terminal-io.ts'
import type { Light, Result } from './findings.ts'

const words: Readonly<Record<Light, string>> = {
  green: 'ok',
  yellow: 'warning',
  red: 'ERROR',
  skipped: '-',
}
const wordWidth = Math.max(...Object.values(words).map((word) => word.length)) + 2
const titleWidth = 15

const colours = { green: 'green', yellow: 'yellow', red: 'red', skipped: 'dim' } as const

/** Lines for people, at most `width` columns. Coloured on a terminal, unless NO_COLOR is set. */
export function resultLines(
  { light, title, text, details, todo }: Result,
  width: number,
): string[] {
  const indent = ' '.repeat(wordWidth + titleWidth)
  const [advice, command] = todo?.split('\n') ?? []
  const body = [
    ...paragraph(withoutAdvicePrefix(text), width),
    ...shownDetails(details ?? []).flatMap((line) =>
      paragraph(withoutAdvicePrefix(line), width).map((one) => `  ${one}`),
    ),
    ...(advice === undefined ? [] : paragraph(`${advicePrefix} ${advice}`, width)),
    // The command's line is not wrapped, so that people can copy it.
    ...(command === undefined ? [] : [`  ${safeLine(command)}`]),
  ]
  const word = words[light]
  const coloured = styleText(colours[light], word, { stream: process.stdout })
  const head = coloured + ' '.repeat(wordWidth - word.length) + title.padEnd(titleWidth)
  return body.map((line, at) => (at === 0 ? head : indent) + line)
}

/** Maximum details shown. */
const maxDetails = 20

const shownDetails = (details: readonly string[]): readonly string[] =>
  details.length <= maxDetails
    ? details
    : [
        ...details.slice(0, maxDetails),
        `and ${details.length - maxDetails} more, which --json shows`,
      ]

/** Prefix of a line with this program's advice. */
const advicePrefix = 'To do:'

/**
 * Quotes the prefix of advice in a text. Findings repeat texts of the platform, which must not look
 * like this program's advice.
 */
const withoutAdvicePrefix = (text: string) => text.replaceAll(/to\s*do\s*:/gi, '"$&"')

/**
 * Wraps a text. All lines but the first are indented, so that only this program's prefixes start at
 * the left.
 */
const paragraph = (text: string, width: number) =>
  // Terminals also break lines at other kinds of spaces.
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

/** The end of the report: numbers of errors and warnings, and the skipped checks. */
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

/** Minimum length of a removed secret. A shorter secret may be a common word. */
const shortestSecret = 8

/**
 * Removes secrets from a result: settings marked as secret, and passwords in URLs. This program's
 * texts contain none, but quoted texts of a platform or a database may.
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
    // A password is removed only inside a URL, because it may be a common word.
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
