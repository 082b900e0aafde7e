import { isObject } from '../../json/is-object.ts'
import { cellText, columnsOf, padded } from './columns.ts'

export type Row = Readonly<Record<string, unknown>>

/** Space between two columns. */
const gap = '  '

/**
 * Objects as a table with a column for each of their fields, those of objects in them too
 * (`model.model`); `undefined` where it is wider than `width`. Nothing is cut off.
 */
export function tableLines(
  rows: readonly Row[],
  width: number,
  styleHead: (text: string) => string,
): string[] | undefined {
  const flat = rows.map((row) => new Map(cellsOf(row)))
  const names = [...new Set(flat.flatMap((cells) => [...cells.keys()]))]
  const widths = names.map((name) =>
    Math.max(columnsOf(name), ...flat.map((cells) => columnsOf(cells.get(name) ?? ''))),
  )
  const whole = widths.reduce((sum, one) => sum + one, 0) + gap.length * (names.length - 1)
  if (whole > width) return undefined
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => padded(cell, widths[at] ?? 0))
      .join(gap)
      .trimEnd()
  return [
    styleHead(line(names)),
    ...flat.map((cells) => line(names.map((name) => cells.get(name) ?? ''))),
  ]
}

function cellsOf(row: Row, prefix = ''): (readonly [name: string, text: string])[] {
  return Object.entries(row).flatMap(([name, value]) => {
    const path = prefix + cellText(name)
    return isObject(value) ? cellsOf(value, `${path}.`) : [[path, cellText(value)] as const]
  })
}
