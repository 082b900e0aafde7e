import type { PhoneNumber } from '../../contract/phone-number.ts'
import { routes } from '../../contract/routes.ts'
import type { AccountReader } from './account-reader.ts'

/** Most numbers that are read, by page: the platform has no filter for numbers. */
const mostNumbers = 2000
const perPage = 200

export interface OwnNumbers {
  readonly numbers: readonly PhoneNumber[]
  /** False: the account has, or may have, more numbers than these. */
  readonly isComplete: boolean
}

/** The account's phone numbers; reading ends early when `wanted` (E.164) is found. */
export async function readOwnNumbers(
  { call }: Pick<AccountReader, 'call'>,
  wanted?: string,
): Promise<OwnNumbers> {
  const known = new Map<string, PhoneNumber>()
  const result = (isComplete: boolean) => ({ numbers: [...known.values()], isComplete })
  while (known.size < mostNumbers) {
    const before = known.size
    const query = { limit: perPage, offset: before }
    const { items, count } = await call(routes.phoneNumbers.list, { query })
    for (const one of items) known.set(one.id, one)
    if (wanted !== undefined && items.some(({ number }) => number === wanted)) return result(false)
    const isLast = count === undefined ? items.length < perPage : known.size >= count
    if (isLast || items.length === 0) return result(true)
    // The same page again: the platform ignores `offset`, so the other numbers cannot be read.
    if (known.size === before) return result(false)
  }
  return result(false)
}

export interface OwnNumber extends OwnNumbers {
  /** `undefined`: not among the numbers. */
  readonly number: PhoneNumber | undefined
}

/** Looks up one of the account's numbers by E.164. Throws ApiError. */
export async function findOwnNumber(e164: string, reader: AccountReader): Promise<OwnNumber> {
  const read = await readOwnNumbers(reader, e164)
  return { ...read, number: read.numbers.find(({ number }) => number === e164) }
}
