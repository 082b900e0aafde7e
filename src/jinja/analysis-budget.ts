import { TemplateError } from './error.ts'

/**
 * What parsing and checking one template may cost. A step pays for some 100 ns of work or for 32
 * bytes of memory, as when rendering.
 */
export class AnalysisBudget {
  private readonly steps: number
  private left: number

  constructor(steps: number) {
    this.steps = steps
    this.left = steps
  }

  spend(steps: number): void {
    this.left -= steps
    if (this.left >= 0) return
    const message = `the template takes more than ${this.steps} steps to check; make it shorter or less nested`
    throw new TemplateError('too_large', message, null)
  }
}
