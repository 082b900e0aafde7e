import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** A measured value with a limit or an aim. */
export interface Goal {
  readonly name: string
  readonly value: number
  readonly atLeast?: number
  readonly atMost?: number
  /** Target value. A worse value is no failure. */
  readonly aim?: number
}

/** A measured value, with its comparisons. */
export interface Section {
  readonly title: string
  readonly unit: string
  readonly values: Readonly<Record<string, number>>
  readonly goals: readonly Goal[]
}

/** Time and machine of a measurement. */
export const circumstances = () => ({
  date: new Date().toISOString().slice(0, 10),
  machine: `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.versions.node}`,
})

const isMet = ({ value, atLeast = -Infinity, atMost = Infinity }: Goal): boolean =>
  value >= atLeast && value <= atMost

export const areMet = (sections: readonly Section[]): boolean =>
  sections.every(({ goals }) => goals.every(isMet))

/** Formats the sections as a table. */
export const table = (sections: readonly Section[]): string =>
  sections.map((section) => `${linesOf(section).join('\n')}\n`).join('')

const linesOf = ({ title, unit, values, goals }: Section): string[] => [
  `${title} (${unit})`,
  `    ${Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ')}`,
  ...goals.map((goal) => `  ${mark(goal)} ${goal.name}: ${goal.value} (${limitOf(goal)})`),
]

const limitOf = ({ atLeast, atMost, aim }: Goal): string => {
  if (atLeast !== undefined) return `≥ ${atLeast}`
  return atMost !== undefined ? `≤ ${atMost}` : `aim ${aim}`
}

const mark = (goal: Goal): string => {
  if (goal.aim !== undefined) return '·'
  return isMet(goal) ? '✓' : '✗'
}

/** Writes the sections as JSON to a file, or to standard output for `-`. */
export function writeJson(file: string, sections: readonly Section[]): void {
  const text = `${JSON.stringify({ ...circumstances(), sections }, null, 2)}\n`
  if (file === '-') process.stdout.write(text)
  else writeFileSync(file, text)
}

/** The value below which this share of the values lies. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(share * values.length)] ?? Number.NaN

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits))

/** Counts by name. */
export class Tally {
  readonly #counts = new Map<string, number>()

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** The counts, highest first. */
  all(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([, a], [, b]) => b - a))
  }
}
