import type { Runtime } from './runtime.ts'

const word = 2n ** 63n

/** Roughly how many bits an integer has: enough for a cap, and cheap where there are few. */
export function bitLength(value: bigint): number {
  return value < word && -value <= word ? 64 : value.toString(16).length * 4
}

/** An int or float as a float. */
export function toFloat(runtime: Runtime, value: bigint | number): number {
  const float = Number(value)
  if (typeof value === 'bigint' && !Number.isFinite(float)) {
    runtime.fail('OverflowError: int too large to convert to float')
  }
  return float
}
