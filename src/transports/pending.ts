/** Requests that have come and are not answered. An id may be in use twice: clients err. */
export class Pending {
  readonly #counts = new Map<unknown, number>()
  #whenNone: (() => void) | undefined

  add(id: unknown): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1)
  }

  delete(id: unknown): void {
    const left = (this.#counts.get(id) ?? 0) - 1
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
