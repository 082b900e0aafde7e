import type { Attack } from './attack.ts'
import type { Figures } from './figures.ts'

/** One way to attack the built program, and what it guarantees meanwhile. */
export interface Scenario {
  /** Its name on the command line and in docs/security.md. */
  readonly name: string
  /** What an attacker does, or what fails around the server. */
  readonly point: string
  /** What is true during the attack and after it. */
  readonly guarantee: string
  /**
   * Attacks, and gives what was measured. Throws when the guarantee does not hold. What it starts
   * with `attack` is stopped by the caller.
   */
  run(attack: Attack): Promise<Figures>
}

/** How a scenario ended. */
export interface AttackVerdict extends Pick<Scenario, 'name' | 'point' | 'guarantee'> {
  readonly holds: boolean
  /** What did not hold. */
  readonly broken?: string
  readonly seconds: number
  readonly figures: Figures
}
