import { knownVariables } from '../../contract/template.ts'
import { isObject } from '../../json/is-object.ts'

/** The variables that given values fill: `{customer: {name: 'A'}}` fills `customer` and `customer.name`. */
export function variablePaths(variables: Readonly<Record<string, unknown>>, above = ''): string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const path = above ? `${above}.${name}` : name
    return [path, ...(isObject(value) ? variablePaths(value, path) : [])]
  })
}

/**
 * The unknown variables of a template that would be empty: those without a default. In Jinja the
 * filter `default` replaces a missing field, but fails if the object of the field is missing too.
 */
export function unfilledVariables(
  unknown: readonly string[],
  template: string,
  given: readonly string[],
): string[] {
  if (!/\|\s*(?:default|d)\b/.test(template)) return [...unknown]
  const code = template.match(/\{\{.*?\}\}|\{%.*?%\}/gs) ?? []
  const objects = new Set([...knownVariables, ...given].map(rootOf))
  return unknown.filter((path) => {
    const isField = path !== rootOf(path)
    return (isField && !objects.has(rootOf(path))) || !hasDefault(path, code.join('\n'))
  })
}

const rootOf = (path: string) => path.split(/[.[]/, 1)[0] ?? path

/** True if the filter `default` follows the variable wherever it is read. */
function hasDefault(path: string, code: string): boolean {
  const name = path.replaceAll(/[^\w]/g, '\\$&')
  const uses = [
    ...code.matchAll(
      new RegExp(`(?<![\\w.'"])${name}(?![\\w.([])(\\s*\\|\\s*(?:default|d)\\b)?`, 'g'),
    ),
  ]
  return uses.length > 0 && uses.every(([, filter]) => filter !== undefined)
}
