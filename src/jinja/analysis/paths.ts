import type { AnalysisBudget } from '../analysis-budget.ts'
import { STEPS_PER_VARIABLE } from '../limits.ts'
import type { Step } from '../syntax/tree.ts'

/** A variable and what is read of it: `order`, `order.id`, `order.items[0]`. */
type Place = {
  readonly path: string
  /** The line of its first use, or 0 if only parts of it are used. */
  line: number
  parts: Map<string | bigint, Place> | null
}

/**
 * The variables read so far, as a tree: a template may read the same few a hundred thousand times,
 * and looking its way up here spares making and hashing the path as text each time.
 */
export class Paths {
  private readonly budget: AnalysisBudget
  private readonly roots = new Map<string, Place>()
  private readonly found: Place[] = []

  constructor(budget: AnalysisBudget) {
    this.budget = budget
  }

  /** In order of first use. */
  get lines(): readonly { readonly path: string; readonly line: number }[] {
    const lines = this.found.map(({ path, line }) => ({ path, line }))
    return lines.sort((a, b) => a.line - b.line)
  }

  /** Whether a variable of this name, or a part of it, is read. */
  has(root: string): boolean {
    return this.roots.has(root)
  }

  read(root: string, steps: readonly Step[], line: number): void {
    let place = this.roots.get(root) ?? this.addRoot(root)
    const length = pathLength(steps)
    for (let at = 0; at < length; at++) {
      const key = keyOf(steps[at])
      if (key !== null) place = place.parts?.get(key) ?? this.addPart(place, key)
    }
    if (place.line === 0) this.found.push(place)
    if (place.line === 0 || line < place.line) place.line = line
  }

  private addRoot(root: string): Place {
    this.budget.spend(STEPS_PER_VARIABLE)
    const place: Place = { path: root, line: 0, parts: null }
    this.roots.set(root, place)
    return place
  }

  private addPart(place: Place, key: string | bigint): Place {
    this.budget.spend(STEPS_PER_VARIABLE)
    const path = `${place.path}${typeof key === 'string' ? `.${key}` : `[${key}]`}`
    const part: Place = { path, line: 0, parts: null }
    place.parts ??= new Map()
    place.parts.set(key, part)
    return part
  }
}

/**
 * How many of the steps behind a name are a path: the longest run of attributes and constant
 * subscripts. `a['b']` counts as `a.b`, an integer stays a subscript (`orders[0].id`), a computed
 * one ends the path. A called method is not part of it: `customer.get('plan')` reads `customer`.
 */
function pathLength(steps: readonly Step[]): number {
  let length = 0
  while (keyOf(steps[length]) !== null) length++
  return length > 0 && steps[length]?.kind === 'call' ? length - 1 : length
}

function keyOf(step: Step | undefined): string | bigint | null {
  if (step?.kind === 'attribute') return step.name
  if (step?.kind !== 'item' || step.index.kind !== 'const') return null
  const { value } = step.index
  return typeof value === 'string' || typeof value === 'bigint' ? value : null
}
