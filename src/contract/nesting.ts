/**
 * Whether a JSON value nests objects and arrays deeper than that. What works on such values
 * recursively (JSON, SQLite, templates) would run out of stack, so this does not recurse.
 */
export function nestsDeeperThan(value: unknown, levels: number): boolean {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: current, depth } = next
    if (typeof current !== 'object' || current === null) continue
    if (depth >= levels) return true
    for (const item of Object.values(current)) open.push({ value: item, depth: depth + 1 })
  }
  return false
}
