import { quote } from '../syntax/text.ts'
import type { Body, Expr, Template } from '../syntax/tree.ts'
import { eachName, type Visitor, visitParts } from '../syntax/walk.ts'

/** The filters, tests and globals a template may use. */
export type Vocabulary = {
  readonly filters: ReadonlySet<string>
  readonly tests: ReadonlySet<string>
  readonly globals: ReadonlySet<string>
}

/** A filter or test that does not exist. */
export type Unknown = {
  readonly type: 'unknown_filter' | 'unknown_test'
  readonly name: string
  readonly line: number
}

/** `No filter named 'uper'. Did you mean 'upper'?`, with `found` after the name. */
export function explainUnknown(
  { type, name }: Unknown,
  found: string,
  vocabulary: Vocabulary,
): string {
  const kind = type === 'unknown_filter' ? 'filter' : 'test'
  const near = nearest(name, vocabulary[`${kind}s`])
  const suggestion = near === null ? '' : ` Did you mean ${quote(near)}?`
  return `No ${kind} named ${quote(name)}${found}.${suggestion}`
}

/** The known name closest to a mistyped one, or null if none is close. */
function nearest(name: string, known: Iterable<string>): string | null {
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue
    const distance = editDistance(name, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Levenshtein distance; swapping two neighbouring letters is one edit. */
function editDistance(a: string, b: string): number {
  let older: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(
        (previous[j] ?? 0) + 1,
        (current[j - 1] ?? 0) + 1,
        (previous[j - 1] ?? 0) + cost,
      )
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped && i > 1 && j > 1) best = Math.min(best, (older[j - 2] ?? 0) + 1)
      current.push(best)
    }
    older = previous
    previous = current
  }
  return previous[b.length] ?? 0
}

/** Names that Jinja2 defines in some places, unless the template sets them first. */
const specials = ['loop', 'caller', 'kwargs', 'varargs', 'self', 'super'] as const

export type Special = (typeof specials)[number]

const bits: ReadonlyMap<string, number> = new Map(specials.map((name, index) => [name, 1 << index]))

/** Bit sets of special names: those that are read before they are set, and those that occur. */
type Uses = { readonly read: number; readonly seen: number }

const noUses: Uses = { read: 0, seen: 0 }

/**
 * Finds the special names that a body uses, except in nested blocks, which are functions of their
 * own. Each body is walked once, however deep it lies: its result is the sum of the results of its
 * parts.
 */
export class SpecialNames implements Visitor {
  private readonly occurring: Template['names']
  private readonly known = new Map<Body, Uses>()
  /** Sum of the body being walked, so far. */
  private reads = 0
  private seen = 0

  constructor(template: Template) {
    this.occurring = template.names
  }

  uses(body: Body, name: Special): boolean {
    if (!this.occurring.has(name)) return false
    return (this.usesOf(body).read & (bits.get(name) ?? 0)) !== 0
  }

  private usesOf(body: Body): Uses {
    if (body.length === 0) return noUses
    const known = this.known.get(body)
    if (known !== undefined) return known
    const { reads, seen } = this
    this.reads = 0
    this.seen = 0
    for (const statement of body) if (statement.kind !== 'block') visitParts(statement, this)
    const uses = { read: this.reads, seen: this.seen }
    this.reads = reads
    this.seen = seen
    this.known.set(body, uses)
    return uses
  }

  private add(read: number, seen: number): void {
    this.reads |= read & ~this.seen
    this.seen |= seen
  }

  read(expr: Expr): void {
    eachName(expr, this)
  }

  load(name: string): void {
    const bit = bits.get(name) ?? 0
    this.add(bit, bit)
  }

  write(name: string): void {
    this.add(0, bits.get(name) ?? 0)
  }

  enter(body: Body): void {
    const { read, seen } = this.usesOf(body)
    this.add(read, seen)
  }
}
