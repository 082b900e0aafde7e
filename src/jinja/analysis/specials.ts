import type { Body, Expr, Template } from '../syntax/tree.ts'
import { eachName, type Visitor, visitParts } from '../syntax/walk.ts'

/** Names that mean something where Jinja2 provides them, unless the template sets them first. */
const specials = ['loop', 'caller', 'kwargs', 'varargs', 'self', 'super'] as const

export type Special = (typeof specials)[number]

const bits: ReadonlyMap<string, number> = new Map(specials.map((name, index) => [name, 1 << index]))

/** Of each special name, whether it is read before it is set, and whether it occurs at all. */
type Uses = { readonly read: number; readonly seen: number }

const noUses: Uses = { read: 0, seen: 0 }

/**
 * Tells which special names a body uses, looking into everything but nested blocks, which are
 * functions of their own. Each body is walked once however deep it lies: a result is what its
 * parts' results add up to.
 */
export class SpecialNames implements Visitor {
  private readonly occurring: Template['names']
  private readonly known = new Map<Body, Uses>()
  /** What the body being walked adds up to so far. */
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
