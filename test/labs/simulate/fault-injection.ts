import type { VirtualTime } from './virtual-time.ts'

interface StepOptions {
  readonly time: VirtualTime
  readonly random: () => number
  readonly name: string
  readonly trace: (line: string) => void
  readonly crashRate: number
  readonly failureRate: number
  readonly longestMs: number
  /** Called when the server stops by itself. */
  readonly onCrash: () => void
}

/**
 * Operations of one server on the shared state. Before and after each, the server may be delayed,
 * fail or crash. Crashes elsewhere need no simulation, because between these operations a server
 * changes nothing shared.
 */
export class Steps {
  #isAlive = true
  #isCalm = false
  readonly #options: StepOptions

  constructor(options: StepOptions) {
    this.#options = options
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  stop(): void {
    this.#isAlive = false
  }

  /** Ends delays, failures and crashes. */
  calm(): void {
    this.#isCalm = true
  }

  async take<T>(what: string, work: () => Promise<T>, errorOf: (why: string) => Error): Promise<T> {
    await this.#pass(`before ${what}`)
    this.#mayFail(`before ${what}`, errorOf)
    const result = await work()
    await this.#pass(`after ${what}`)
    this.#mayFail(`after ${what}`, errorOf)
    return result
  }

  async #pass(where: string): Promise<void> {
    const { time, random, longestMs, crashRate, onCrash, name, trace } = this.#options
    if (this.#isAlive && !this.#isCalm) {
      if (longestMs > 0 && random() < 0.5) await time.sleep(Math.floor(random() * longestMs))
      if (this.#isAlive && crashRate > 0 && random() < crashRate) {
        trace(`${name}: stops ${where}`)
        this.stop()
        onCrash()
      }
    }
    if (!this.#isAlive) await new Promise(() => undefined)
  }

  #mayFail(where: string, errorOf: (why: string) => Error): void {
    const { random, failureRate, name, trace } = this.#options
    if (this.#isCalm || failureRate === 0 || random() >= failureRate) return
    trace(`${name}: fails ${where}`)
    throw errorOf(`${name}: simulated failure ${where}`)
  }
}

/** Wraps a part of the state, so that each of its operations is a step of one server. */
export const inSteps = <T extends object>(
  part: T,
  steps: Steps,
  Failure: new (why: string) => Error,
): T =>
  new Proxy(part, {
    get(_, name) {
      const operation: unknown = Reflect.get(part, name)
      if (typeof operation !== 'function') return operation
      const step = `${String(name)} (${Failure.name})`
      return (...args: unknown[]) =>
        steps.take(
          step,
          async () => Reflect.apply(operation, part, args),
          (why) => new Failure(why),
        )
    },
  })
