import { styleText } from 'node:util'
import { readScript } from '../../../src/dev/script-arguments.ts'
import { type AttackVerdict, run, type Scenario } from './attack.ts'
import { scenarios } from './scenarios.ts'

const usage = `Attacks the built program, and prints for each scenario whether its guarantee holds. Needs Linux, but no
network.

npm run attack [-- NAME… --json --list --help]

  NAME    runs only these scenarios
  --list  lists the scenarios and runs none
  --json  prints one JSON document instead of lines

Exits with 0 if all guarantees hold, with 1 if one is broken, and with 2 if it cannot run.
`

const { flags, positionals, refuse } = readScript(
  usage,
  { list: false, json: false },
  { allowPositionals: true },
)

function chosen(names: readonly string[]): readonly Scenario[] {
  const unknown = names.filter((name) => !scenarios.some((scenario) => scenario.name === name))
  if (unknown.length > 0) refuse(`There is no scenario ${unknown.join(', ')}. --list shows all.`)
  return names.length === 0 ? scenarios : scenarios.filter(({ name }) => names.includes(name))
}

function line({ name, holds, broken, guarantee, seconds, figures }: AttackVerdict): string {
  const mark = holds ? styleText('green', 'holds ') : styleText('red', 'BROKEN')
  const measured = Object.entries(figures).map(([figure, value]) => `${figure}: ${value}`)
  const details = [guarantee, ...measured, ...(broken === undefined ? [] : [broken])]
  return `${mark} ${name} (${seconds} s)\n${details.map((text) => `       ${text}\n`).join('')}`
}

const write = (text: string) => process.stdout.write(text)
const wanted = chosen(positionals)

if (flags.list && flags.json) {
  write(
    `${JSON.stringify(
      wanted.map(({ run: _, ...described }) => described),
      null,
      2,
    )}\n`,
  )
} else if (flags.list) {
  for (const { name, point, guarantee } of wanted) write(`${name}\n  ${point}\n  ${guarantee}\n`)
} else await attackAll()

async function attackAll(): Promise<void> {
  if (process.platform !== 'linux') refuse('Memory is read from /proc, which only Linux has.')
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  const verdicts: AttackVerdict[] = []
  for (const scenario of wanted) {
    const verdict = await run(scenario)
    verdicts.push(verdict)
    if (!flags.json) write(line(verdict))
  }
  const broken = verdicts.filter(({ holds }) => !holds)
  if (flags.json) write(`${JSON.stringify({ holds: broken.length === 0, verdicts }, null, 2)}\n`)
  else write(`${verdicts.length - broken.length} of ${verdicts.length} hold\n`)
  // Exits after the output is written, without waiting for work of stopped scenarios.
  process.stdout.write('', () => process.exit(broken.length > 0 ? 1 : 0))
}
