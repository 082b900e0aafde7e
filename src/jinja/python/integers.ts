const word = 2n ** 63n

/** Roughly how many bits an integer has: enough for a cap, and cheap where there are few. */
export function bitLength(value: bigint): number {
  return value < word && -value <= word ? 64 : value.toString(16).length * 4
}
