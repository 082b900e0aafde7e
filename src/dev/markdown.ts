/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
}

export const code = (text: string) => `\`${text}\``

/**
 * Replaces the text between `<!-- name -->` and `<!-- /name -->` for each section. Throws if a
 * marker is missing.
 */
export function withSections(
  file: string,
  document: string,
  sections: Readonly<Record<string, string>>,
): string {
  let updated = document
  for (const [name, text] of Object.entries(sections)) {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const from = updated.indexOf(start)
    const to = updated.indexOf(end)
    if (from < 0 || to < from) throw new Error(`${file} has no ${start} … ${end}`)
    updated = `${updated.slice(0, from + start.length)}\n${text}\n${updated.slice(to)}`
  }
  return updated
}
