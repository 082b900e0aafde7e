import type { Body, Template } from '../syntax/tree.ts'
import { eachName, statementParts } from '../syntax/walk.ts'

/** Names that mean something where Jinja2 provides them, unless the template sets them first. */
const specials = ['loop', 'caller', 'kwargs', 'varargs', 'self', 'super'] as const

export type Special = (typeof specials)[number]

const bits: ReadonlyMap<string, number> = new Map(specials.map((name, index) => [name, 1 << index]))

/** Of each special name, whether it is read before it is set, and whether it occurs at all. */
type Uses = { readonly read: number; readonly seen: number }

/**
 * Tells which special names a body uses, looking into everything but nested blocks, which are
 * functions of their own. Each body is walked once however deep it lies: a result is what its
 * parts' results add up to.
 */
export class SpecialNames {
  private readonly occurring: ReadonlySet<string>
  private readonly known = new Map<Body, Uses>()

  constructor(template: Template) {
    this.occurring = template.names
  }

  uses(body: Body, name: Special): boolean {
    if (!this.occurring.has(name)) return false
    return (this.usesOf(body).read & (bits.get(name) ?? 0)) !== 0
  }

  private usesOf(body: Body): Uses {
    const known = this.known.get(body)
    if (known !== undefined) return known
    const uses = this.collect(body)
    this.known.set(body, uses)
    return uses
  }

  private collect(body: Body): Uses {
    let read = 0
    let seen = 0
    const add = (part: Uses): void => {
      read |= part.read & ~seen
      seen |= part.seen
    }
    for (const statement of body) {
      if (statement.kind === 'block') continue
      for (const part of statementParts(statement)) {
        if (part.kind === 'body') add(this.usesOf(part.body))
        else if (part.kind === 'write') add({ read: 0, seen: bits.get(part.name.name) ?? 0 })
        else {
          eachName(part.expr, ({ name }) => {
            const bit = bits.get(name)
            if (bit !== undefined) add({ read: bit, seen: bit })
          })
        }
      }
    }
    return { read, seen }
  }
}
