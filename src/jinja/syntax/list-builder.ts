const none: readonly never[] = []

/**
 * Lists under construction, each on top of the one around it. A list made by `push` has room for
 * sixteen items more, and trees consist of short lists; those taken from here have none to spare.
 */
export class ListBuilder<T> {
  private readonly items: T[] = []
  /** How many items there are; behind them lie some that were taken. */
  private height = 0

  /** Begins a list; hand what it returns to `take`. */
  begin(): number {
    return this.height
  }

  add(item: T): void {
    this.items[this.height++] = item
  }

  /** Whether anything was added since. */
  has(start: number): boolean {
    return this.height > start
  }

  /** Ends a list, and all that were begun since. */
  take(start: number): readonly T[] {
    if (this.height === start) return none
    const list = this.items.slice(start, this.height)
    this.height = start
    return list
  }
}
