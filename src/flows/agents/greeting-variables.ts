import { knownVariables } from '../../contract/template.ts'
import { isObject } from './field-changes.ts'

/** `{customer: {name: 'A'}}` fills `customer` and `customer.name`. */
export function variablePaths(variables: Readonly<Record<string, unknown>>, above = ''): string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const path = above ? `${above}.${name}` : name
    return [path, ...(isObject(value) ? variablePaths(value, path) : [])]
  })
}

/**
 * Those of a template's variables that would be read as nothing: unknown ones without a default. A
 * default stands for a field that is missing, but not where what it belongs to is missing too:
 * there Jinja fails.
 */
export function unfilled(
  unknown: readonly string[],
  template: string,
  given: readonly string[],
): string[] {
  if (!/\|\s*(?:default|d)\b/.test(template)) return [...unknown]
  const code = template.match(/\{\{.*?\}\}|\{%.*?%\}/gs) ?? []
  const there = new Set([...knownVariables, ...given].map(rootOf))
  return unknown.filter((path) => {
    const isPart = path !== rootOf(path)
    return (isPart && !there.has(rootOf(path))) || !hasDefault(path, code.join('\n'))
  })
}

const rootOf = (path: string) => path.split(/[.[]/, 1)[0] ?? path

/** True where a default follows a variable each time that it is read. */
function hasDefault(path: string, code: string): boolean {
  const name = path.replaceAll(/[^\w]/g, '\\$&')
  const uses = [
    ...code.matchAll(
      new RegExp(`(?<![\\w.'"])${name}(?![\\w.([])(\\s*\\|\\s*(?:default|d)\\b)?`, 'g'),
    ),
  ]
  return uses.length > 0 && uses.every(([, filter]) => filter !== undefined)
}
