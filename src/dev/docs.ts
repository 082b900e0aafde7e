import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tools } from '../../tools/index.ts'
import { settings } from '../config/settings.ts'
import { magicDestinations } from '../sandbox/call-plan.ts'
import { sandboxKeys } from '../sandbox/seed.ts'

/*
 * Writes the generated parts of the README, between markers; with --check, only says whether they
 * are current.
 */

const file = join(import.meta.dirname, '../../README.md')

const sections: Record<string, string> = {
  tools: table(
    ['Tool', 'Does', 'Operation'],
    tools.map(({ name, description, route }) => [
      `\`${name}\``,
      description.split(/(?<=\.) /)[0]?.replace(/\.$/, '') ?? '',
      `${route.method} ${route.path.replace('/v1/accounts/{account_id}', '…')}`,
    ]),
  ),
  settings: table(
    ['Flag', 'Variable', 'Meaning'],
    Object.entries(settings).map(([name, { value, variable, help }]) => [
      `\`${`--${name} ${value}`.trim()}\``,
      `\`${variable}\``,
      help,
    ]),
  ),
  destinations: table(
    ['Call this', 'and it is'],
    Object.entries(magicDestinations).map(([number, { about }]) => [`\`${number}\``, about]),
  ),
  keys: table(
    ['Key', 'Account'],
    [
      [`\`${sandboxKeys.main}\``, 'the seeded account; MCP uses it where a request brings no key'],
      [`\`${sandboxKeys.subaccount}\``, 'its subaccount'],
      [`\`${sandboxKeys.other}\``, 'an unrelated account'],
    ],
  ),
}

const current = readFileSync(file, 'utf8')
let updated = current
for (const [name, text] of Object.entries(sections)) {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = updated.indexOf(start)
  const to = updated.indexOf(end)
  if (from < 0 || to < from) throw new Error(`README.md has no ${start} … ${end}`)
  updated = `${updated.slice(0, from + start.length)}\n${text}\n${updated.slice(to)}`
}

if (!process.argv.includes('--check')) {
  writeFileSync(file, updated)
} else if (updated !== current) {
  process.stderr.write('README.md is not current: run npm run docs.\n')
  process.exitCode = 1
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
