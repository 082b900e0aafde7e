import { setTimeout as sleep } from 'node:timers/promises'
import { round } from '../measure/report.ts'
import { Attack } from './attack.ts'
import type { Figures } from './figures.ts'
import type { AttackVerdict, Scenario } from './scenario.ts'

/** After this a scenario counts as broken, and its programs are stopped. */
const longestSeconds = 60

/** Runs one scenario. Everything that it started has ended when this resolves. */
export async function run(scenario: Scenario): Promise<AttackVerdict> {
  const { name, point, guarantee } = scenario
  const began = performance.now()
  let figures: Figures = {}
  let broken: string | undefined
  {
    await using attack = new Attack()
    try {
      figures = await withinTime(scenario.run(attack))
    } catch (error) {
      broken = error instanceof Error ? error.message : String(error)
    }
    // An exceeded limit explains errors that follow from it, such as a broken connection.
    broken = attack.passed() ?? broken
    figures = { ...figures, ...attack.figures() }
  }
  const seconds = round((performance.now() - began) / 1000, 1)
  const verdict = { name, point, guarantee, holds: broken === undefined, seconds, figures }
  return broken === undefined ? verdict : { ...verdict, broken }
}

async function withinTime(running: Promise<Figures>): Promise<Figures> {
  const over = new AbortController()
  const late = sleep(longestSeconds * 1000, undefined, { signal: over.signal }).then(() => {
    throw new Error(`It did not end within ${longestSeconds} s`)
  })
  try {
    return await Promise.race([running, late])
  } finally {
    over.abort()
    late.catch(() => undefined)
  }
}
