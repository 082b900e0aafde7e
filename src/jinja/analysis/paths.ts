import type { Chain, Expr, Step } from '../syntax/tree.ts'

/**
 * The variable a chain reads: the longest run of attributes and constant subscripts after a name.
 * `a['b']` counts as `a.b`, an integer stays a subscript (`orders[0].id`), a computed one ends the
 * path. A called method is not part of it: `customer.get('plan')` reads `customer`.
 */
function chainPath(root: string, steps: readonly Step[]): string {
  const segments: string[] = []
  for (const step of steps) {
    const segment = pathSegment(step)
    if (segment === null) break
    segments.push(segment)
  }
  if (steps[segments.length]?.kind === 'call') segments.pop()
  return root + segments.join('')
}

function pathSegment(step: Step): string | null {
  if (step.kind === 'attribute') return `.${step.name}`
  if (step.kind !== 'item' || step.index.kind !== 'const') return null
  const { value } = step.index
  if (typeof value === 'string') return `.${value}`
  return typeof value === 'bigint' ? `[${value}]` : null
}

/** The root name and path of an expression, or null where it does not start with a name. */
export function pathOf(expr: Expr): { root: string; path: string; line: number } | null {
  if (expr.kind === 'name') return { root: expr.name, path: expr.name, line: expr.line }
  if (expr.kind !== 'chain') return null
  return headPath(expr)
}

function headPath({ head, steps }: Chain): { root: string; path: string; line: number } | null {
  if (head.kind !== 'name') return null
  return { root: head.name, path: chainPath(head.name, steps), line: head.line }
}
