import { TemplateError, type TemplateErrorType } from '../error.ts'
import { type AnalysisBudget, MAX_WARNINGS, STEPS_PER_VARIABLE } from '../limits.ts'
import type { Step } from '../syntax/tree.ts'
import { explainUnknown, type Unknown, type Vocabulary } from './vocabulary.ts'

type Problem = {
  readonly type: TemplateErrorType
  readonly message: string
  readonly line: number
}

/**
 * The findings of compiling. Like Jinja2, it keeps one error, but goes on collecting variables.
 * Error objects are created on demand, because a template may have as many mistakes as words.
 */
export class Report {
  /** False in code that Jinja2 does not compile, whose errors it never reports. */
  live = true
  private readonly vocabulary: Vocabulary
  /** The variables the caller must provide. */
  readonly reads: Paths
  /** Unknown filters and tests that fail only when rendering reaches them. */
  private readonly deferred = new Map<string, Unknown>()
  private first: Problem | Unknown | null = null
  private late: Problem | null = null

  constructor(vocabulary: Vocabulary, budget: AnalysisBudget) {
    this.vocabulary = vocabulary
    this.reads = new Paths(budget)
  }

  /** The error that Jinja2 would raise. Errors left to Python come after all of Jinja2's own. */
  get error(): TemplateError | null {
    const found = this.first ?? this.late
    if (found === null) return null
    const message = 'message' in found ? found.message : explainUnknown(found, '', this.vocabulary)
    return new TemplateError(found.type, message, found.line)
  }

  get warnings(): readonly Problem[] {
    return Array.from(this.deferred.values(), (unknown) => {
      const { type, line } = unknown
      return { type, line, message: explainUnknown(unknown, ' found', this.vocabulary) }
    })
  }

  fail(problem: Problem | Unknown): void {
    if (this.live) this.first ??= problem
  }

  failLate(problem: Problem): void {
    if (this.live) this.late ??= problem
  }

  /** Records an unknown filter or test that fails only when reached, once per name. */
  defer(unknown: Unknown): void {
    if (!this.live) return
    const key = `${unknown.type} ${unknown.name}`
    const known = this.deferred.get(key)
    const isNew = known === undefined && this.deferred.size < MAX_WARNINGS
    if (isNew || (known !== undefined && unknown.line < known.line)) this.deferred.set(key, unknown)
  }

  /** Runs `check`, and drops the error that it reports if `pardons` returns true. */
  unless(pardons: () => boolean, check: () => void): void {
    const { first } = this
    check()
    if (first === null && this.first !== null && pardons()) this.first = null
  }
}

/** A variable and the parts of it that are read: `order`, `order.id`, `order.items[0]`. */
type Place = {
  readonly path: string
  /** The line of its first use, or 0 if only parts of it are used. */
  line: number
  parts: Map<string | bigint, Place> | null
}

/**
 * The variables read so far, as a tree. A template may read the same few variables a hundred
 * thousand times, and a lookup in the tree needs no path as text.
 */
class Paths {
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

  /** True if a variable of this name, or a part of it, is read. */
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
 * Number of steps after a name that belong to its path: the longest run of attributes and constant
 * subscripts. `a['b']` counts as `a.b`, an integer stays a subscript (`orders[0].id`), a computed
 * subscript ends the path. A called method is not part of the path: `customer.get('plan')` reads
 * `customer`.
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
