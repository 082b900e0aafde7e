import type { Chain, Name, Step } from '../syntax/tree.ts'

/** Most gaps that are told, and the longest path of one. */
const mostGaps = 100
const longestPath = 200

/**
 * Gaps in what a template prints: variables that have no value, or an empty text. Only names and
 * what is read of them count, not what a function returns. Each is told once, by its path.
 */
export class Gaps {
  private readonly told = new Set<string>()
  /** Where gaps were found already: a loop finds the same ones again. */
  private readonly seen = new Set<Name | Chain>()
  private readonly onGap: (path: string) => void

  constructor(onGap: (path: string) => void) {
    this.onGap = onGap
  }

  add(source: Name | Chain, steps: number): void {
    if (this.told.size >= mostGaps || this.seen.has(source)) return
    this.seen.add(source)
    const path = pathOf(source, steps)
    if (path === null || this.told.has(path)) return
    this.told.add(path)
    this.onGap(path)
  }
}

/** `order.items[0]`; null where a call or a computed subscript is in it. */
function pathOf(source: Name | Chain, steps: number): string | null {
  const head = source.kind === 'chain' ? source.head : source
  if (head.kind !== 'name') return null
  let path = head.name
  const passed = source.kind === 'chain' ? source.steps.slice(0, steps) : []
  for (const step of passed) {
    const part = partOf(step)
    // A filter changes the value, not where it came from.
    if (part === null && step.kind !== 'filter') return null
    if (path.length <= longestPath) path += part ?? ''
  }
  return path.length <= longestPath ? path : `${path.slice(0, longestPath)}…`
}

function partOf(step: Step): string | null {
  if (step.kind === 'attribute') return `.${step.name}`
  if (step.kind !== 'item' || step.index.kind !== 'const') return null
  const { value } = step.index
  if (typeof value === 'string') return `.${value}`
  return typeof value === 'bigint' ? `[${value}]` : null
}
