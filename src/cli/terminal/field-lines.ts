import { isObject } from '../../json/is-object.ts'
import { safeLine } from '../../text/safe-text.ts'
import { cellText } from './columns.ts'

const step = '  '

/**
 * Fields of an object, one a line, those of objects in it indented below. A text of several lines stands
 * below its name, indented, so that none of its lines can be taken for a field.
 */
export function fieldLines(object: Readonly<Record<string, unknown>>, indent = ''): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const label = `${indent}${cellText(name)}:`
    if (isObject(value)) return [label, ...fieldLines(value, indent + step)]
    if (Array.isArray(value) && value.some(isObject))
      return [label, ...value.flatMap((item) => itemLines(item, indent + step))]
    if (typeof value === 'string' && value.includes('\n'))
      return [label, ...value.split('\n').map((line) => `${indent}${step}| ${safeLine(line)}`)]
    return [`${label} ${cellText(value)}`.trimEnd()]
  })
}

/** Writes an item of a list: a line for each field, the first one after a hyphen. */
function itemLines(item: unknown, indent: string): string[] {
  if (!isObject(item)) return [`${indent}- ${cellText(item)}`]
  return fieldLines(item, `${indent}${step}`).map((line, at) =>
    at === 0 ? `${indent}- ${line.slice(indent.length + step.length)}` : line,
  )
}
