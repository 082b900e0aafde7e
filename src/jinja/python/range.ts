import { MAX_RANGE } from '../limits.ts'
import { sliceBounds } from './access.ts'
import { numberOf } from './compare.ts'
import { tupleMethods } from './container-methods.ts'
import { toArray } from './iterate.ts'
import { bound } from './method.ts'
import type { Runtime } from './runtime.ts'
import { Thing, Tuple, type Value } from './values.ts'

/** `range(start, stop, step)`, no longer than the sandbox allows. */
export class Range extends Thing {
  readonly typeName = 'range'
  private readonly start: bigint
  private readonly step: bigint
  private readonly stop: bigint
  private readonly size: number

  constructor(runtime: Runtime, start: bigint, stop: bigint, step: bigint) {
    super()
    if (step === 0n) runtime.fail('ValueError: range() arg 3 must not be zero')
    this.start = start
    this.step = step
    this.stop = stop
    const span = step > 0n ? stop - start : start - stop
    const size = step > 0n ? step : -step
    const count = span <= 0n ? 0n : (span + size - 1n) / size
    if (count > MAX_RANGE) {
      const limit = `The sandbox blocks ranges larger than MAX_RANGE (${MAX_RANGE}).`
      runtime.fail(`OverflowError: Range too big. ${limit}`)
    }
    this.size = Number(count)
  }

  private at(index: number): bigint {
    return this.start + BigInt(index) * this.step
  }

  override *iterate(): Generator<Value> {
    for (let index = 0; index < this.size; index++) yield this.at(index)
  }

  override length(): number {
    return this.size
  }

  override item(key: Value): Value | undefined {
    const number = numberOf(key)
    if (typeof number !== 'bigint') return undefined
    const index = Number(number) < 0 ? Number(number) + this.size : Number(number)
    return index >= 0 && index < this.size ? this.at(index) : undefined
  }

  override slice(bounds: readonly Value[], runtime: Runtime): Value {
    const [start, stop, step] = sliceBounds(runtime, this.size, bounds)
    return new Range(runtime, this.at(start), this.at(stop), this.step * BigInt(step))
  }

  override attribute(name: string, runtime: Runtime): Value | undefined {
    const method = tupleMethods.get(name)
    if (method !== undefined) return bound(name, new Tuple(toArray(runtime, this)), method)
    if (name === 'start') return this.start
    if (name === 'stop') return this.stop
    return name === 'step' ? this.step : undefined
  }

  override repr(): string {
    const bounds = `${this.start}, ${this.stop}`
    return this.step === 1n ? `range(${bounds})` : `range(${bounds}, ${this.step})`
  }
}
