import type { Runtime } from './runtime.ts'

/** Floats in decimal, exactly as Python writes and rounds them. */

/** `repr()` of a float: the shortest digits that read back the same. */
export function floatRepr(value: number): string {
  if (!Number.isFinite(value)) return nonFinite(value)
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const [mantissa = '', power = '0'] = Math.abs(value).toExponential().split('e')
  const digits = mantissa.replace('.', '')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) return sign + scientific(digits, exponent)
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
}

export function nonFinite(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  return value > 0 ? 'inf' : '-inf'
}

function scientific(digits: string, exponent: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
  const power = String(Math.abs(exponent)).padStart(2, '0')
  return `${digits.slice(0, 1)}${fraction}e${exponent < 0 ? '-' : '+'}${power}`
}

/** A finite float as an integer times a power of two, exactly. */
function decompose(value: number): [mantissa: bigint, exponent: number] {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const power = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  const mantissa = power === 0 ? fraction : fraction | 0x10000000000000n
  return [value < 0 ? -mantissa : mantissa, Math.max(power, 1) - 1075]
}

/** Integer division, rounding half to even. The divisor is positive. */
function divideToEven(dividend: bigint, divisor: bigint): bigint {
  const negative = dividend < 0n
  const absolute = negative ? -dividend : dividend
  let quotient = absolute / divisor
  const twice = 2n * (absolute % divisor)
  if (twice > divisor || (twice === divisor && quotient % 2n === 1n)) quotient++
  return negative ? -quotient : quotient
}

/** `value * 10 ** digits`, computed exactly and rounded half to even. */
function scaled(value: number, digits: number): bigint {
  const [mantissa, exponent] = decompose(value)
  const up = (10n ** BigInt(Math.max(digits, 0))) << BigInt(Math.max(exponent, 0))
  const down = (10n ** BigInt(Math.max(-digits, 0))) << BigInt(Math.max(-exponent, 0))
  return divideToEven(mantissa * up, down)
}

/** All further decimal digits of a double are zeros: its smallest bit is worth 2 ** -1074. */
const lastDigit = 1074

/** `'%.{digits}f' % value`, for a finite value. */
export function toFixed(value: number, digits: number): string {
  if (digits > lastDigit) return toFixed(value, lastDigit) + '0'.repeat(digits - lastDigit)
  const units = scaled(value, digits)
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const text = String(units < 0n ? -units : units).padStart(digits + 1, '0')
  const point = text.length - digits
  return sign + text.slice(0, point) + (digits === 0 ? '' : `.${text.slice(point)}`)
}

/** `round(value, digits)` of a float. */
export function roundFloat(value: number, digits: number): number {
  // With more digits a double is unchanged; with fewer it is zero.
  if (!Number.isFinite(value) || digits > 323) return value
  if (digits < -308) return value * 0
  const rounded = Number(`${scaled(value, digits)}e${-digits}`)
  return rounded === 0 ? value * 0 : rounded
}

/** `round(value, digits)` of an int; only negative digits change it. */
export function roundInteger(value: bigint, digits: number): bigint {
  if (digits >= 0) return value
  const unit = 10n ** BigInt(-digits)
  return divideToEven(value, unit) * unit
}

/** `'%.{digits}e' % value`, for a finite value. */
export function toExponent(value: number, digits: number): string {
  const [mantissa = '', power = '0'] = value.toExponential(digits).split('e')
  const sign = Object.is(value, -0) ? '-' : ''
  const exponent = Number(power)
  const padded = String(Math.abs(exponent)).padStart(2, '0')
  return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${padded}`
}

/** `'%.{precision}g' % value`, for a finite value; `keepZeros` is the `#` flag. */
export function toGeneral(value: number, precision: number, keepZeros: boolean): string {
  const significant = Math.max(precision, 1)
  const [, power = '0'] = value.toExponential(significant - 1).split('e')
  const exponent = Number(power)
  const strip = (text: string): string =>
    keepZeros || !text.includes('.') ? text : text.replace(/\.?0+$/, '')
  if (exponent >= -4 && exponent < significant) {
    return strip(toFixed(value, significant - 1 - exponent))
  }
  const [mantissa = '', tail = ''] = toExponent(value, significant - 1).split('e')
  return `${strip(mantissa)}e${tail}`
}

const word = 2n ** 63n

/** Approximate number of bits of an integer: enough for a limit, and cheap for small integers. */
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
