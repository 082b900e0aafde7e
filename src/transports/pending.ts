/** Ids of requests that are not answered yet. A client may use an id twice by mistake. */
export class Pending {
  readonly #counts = new Map<unknown, number>()
  #whenNone: (() => void) | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  add(id: unknown): void {
    this.#size++
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
  }

  delete(id: unknown): void {
    const count = this.#counts.get(id)
    if (count === undefined) return
    this.#size--
    const left = count - 1
    if (left > 0) this.#counts.set(id, left)
    else this.#counts.delete(id)
    if (this.#counts.size === 0) this.#whenNone?.()
  }

  settled(): Promise<void> {
    return this.#counts.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#whenNone = resolve
        })
  }
}
