import type { Attack } from './attack.ts'
import type { Figures } from './figures.ts'

/** One way to attack the built program, and what holds all the same. */
export interface Scenario {
  /** What it is called on the command line and in docs/security.md. */
  readonly name: string
  /** What somebody does to the server, or what fails around it. */
  readonly point: string
  /** What holds meanwhile and afterwards. */
  readonly guarantee: string
  /**
   * Attacks, and tells what was measured. Throws when the guarantee does not hold, with node:assert
   * or otherwise. What it starts by `attack` is stopped for it.
   */
  run(attack: Attack): Promise<Figures>
}

/** How a scenario ended. */
export interface Verdict extends Pick<Scenario, 'name' | 'point' | 'guarantee'> {
  readonly holds: boolean
  /** What did not hold. */
  readonly broken?: string
  readonly seconds: number
  readonly figures: Figures
}
