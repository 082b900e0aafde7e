import { safeJsonLines, safeLine } from '../../text/safe-text.ts'
import type { Check, Finding, Light } from './check.ts'

/** A check with what it came to. */
export interface Result extends Pick<Check, 'name' | 'title'>, Finding {
  /** How long it took, ms. */
  readonly ms: number
}

/** How text is broken into lines. */
export interface Layout {
  /** Columns of the terminal. */
  readonly width: number
  /** Breaks a text into lines of so many columns. */
  readonly wrap: (text: string, width: number) => string[]
}

/** How a result is written. */
export interface Style extends Layout {
  readonly colour: (light: Light, word: string) => string
}

const words: Readonly<Record<Light, string>> = {
  green: 'ok',
  yellow: 'warning',
  red: 'ERROR',
  skipped: '-',
}
const wordWidth = Math.max(...Object.values(words).map((word) => word.length)) + 2
const titleWidth = 15

/** Lines for a person. */
export function resultLines({ light, title, text, details, todo }: Result, style: Style): string[] {
  const indent = ' '.repeat(wordWidth + titleWidth)
  const body = [
    ...paragraph(text, style),
    ...shownDetails(details ?? []).map((line) => `  ${safeLine(line)}`),
    ...(todo === undefined ? [] : paragraph(`To do: ${todo}`, style)),
  ]
  const word = words[light]
  const head =
    style.colour(light, word) + ' '.repeat(wordWidth - word.length) + title.padEnd(titleWidth)
  return body.map((line, at) => (at === 0 ? head : indent) + line)
}

/** Most details that a person is shown. */
const mostDetails = 20

const shownDetails = (details: readonly string[]): readonly string[] =>
  details.length <= mostDetails
    ? details
    : [
        ...details.slice(0, mostDetails),
        `and ${details.length - mostDetails} more, which --json shows`,
      ]

const paragraph = (text: string, { width, wrap }: Style) =>
  wrap(safeLine(text), Math.max(30, width - wordWidth - titleWidth))

/** All results for a program. */
export function resultsJson(version: string, results: readonly Result[]): string {
  const checks = results.map(({ light, details, todo, ms, ...rest }) => ({
    ...rest,
    status: light,
    details: details ?? [],
    todo: todo ?? null,
    ms: Math.round(ms),
  }))
  return safeJsonLines({ version, status: worst(results), checks })
}

/** The worst of all. */
export function worst(results: readonly Result[]): Light {
  const lights = results.map(({ light }) => light)
  return (['red', 'yellow'] as const).find((one) => lights.includes(one)) ?? 'green'
}

/** The last lines for a person. */
export function summary(results: readonly Result[], { width, wrap }: Style): string[] {
  const count = (light: Light, one: string) => {
    const found = results.filter((result) => result.light === light).length
    return found === 0 ? '' : `${found} ${one}${found === 1 ? '' : 's'}`
  }
  const found = [count('red', 'error'), count('yellow', 'warning')].filter(Boolean)
  const left = results.filter(({ light }) => light === 'skipped').map(({ title }) => title)
  return [
    '',
    ...(left.length === 0 ? [] : wrap(`Not checked: ${left.join(', ')}.`, width)),
    found.length === 0 ? 'Everything that was checked works.' : `${found.join(', ')}.`,
  ]
}
