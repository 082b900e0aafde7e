/** The same value with each of its strings changed, names of properties too. */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  return typeof value === 'object' && value !== null
    ? mapStringsOfObject({ ...value }, change)
    : value
}

export const mapStringsOfObject = (
  object: Readonly<Record<string, unknown>>,
  change: (text: string) => string,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object).map(([name, field]) => [change(name), mapStrings(field, change)]),
  )
