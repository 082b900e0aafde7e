import type { PhoneNumber } from '../../contract/phone-number.ts'
import { routes } from '../../contract/routes.ts'
import { readAllItems } from '../../session/read-all-items.ts'
import type { AccountReader } from './account-reader.ts'

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
  const { items, isAll } = await readAllItems(
    (query) => call(routes.phoneNumbers.list, { query }),
    { isEnough: (page) => wanted !== undefined && page.some(({ number }) => number === wanted) },
  )
  return { numbers: items, isComplete: isAll }
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
