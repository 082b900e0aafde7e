/** One figure that has to be good enough, or that is aimed for. */
export interface Goal {
  readonly name: string
  readonly value: number
  readonly atLeast?: number
  readonly atMost?: number
  /** What would be better still; missing it is no failure. */
  readonly aim?: number
}

/** One thing that was measured, beside what it is compared with. */
export interface Section {
  readonly title: string
  readonly unit: string
  readonly values: Readonly<Record<string, number>>
  readonly goals: Goal[]
}

export const isMet = ({ value, atLeast, atMost }: Goal): boolean =>
  !(atLeast !== undefined && !(value >= atLeast)) && !(atMost !== undefined && !(value <= atMost))

const wanted = ({ atLeast, atMost, aim }: Goal): string =>
  atLeast !== undefined ? `≥ ${atLeast}` : atMost !== undefined ? `≤ ${atMost}` : `aim ${aim}`

const mark = (goal: Goal): string => (goal.aim !== undefined ? '·' : isMet(goal) ? '✓' : '✗')

/** The sections as a table for people. */
export function table(sections: readonly Section[]): string {
  return sections
    .map(({ title, unit, values, goals }) =>
      [
        `${title} (${unit})`,
        `    ${Object.entries(values)
          .map(([name, value]) => `${name} ${value}`)
          .join(' · ')}`,
        ...goals.map((goal) => `  ${mark(goal)} ${goal.name}: ${goal.value} (${wanted(goal)})`),
      ].join('\n'),
    )
    .join('\n')
}
