import type { PhoneNumber } from '../contract/phone-number.ts'
import {
  type DialogText,
  dialogText,
  joinDialogTexts,
  quotedUpTo,
  wordOrQuoted,
} from '../text/dialog-text.ts'
import type { Counted, Found } from './in-use.ts'

/** How many things a question names; it counts the rest. */
const mostNamed = 20

/** What was found, for a question to a person: `none`, some names, or that it is not known. */
export function foundInWords<T>(
  { items, unknown }: Found<T>,
  inWords: (item: T) => DialogText,
): DialogText {
  const rest = items.length - mostNamed
  const parts = [
    ...items.slice(0, mostNamed).map(inWords),
    ...(rest > 0 ? [dialogText`and ${rest} more`] : []),
  ]
  return withUnknown(parts, unknown)
}

/** The same as a number. */
export function countInWords(found: Found<unknown> | Counted): DialogText {
  const count = 'count' in found ? found.count : found.items.length
  return withUnknown(count === 0 ? [] : [dialogText`${count}`], found.unknown)
}

function withUnknown(found: readonly DialogText[], unknown: DialogText | undefined): DialogText {
  if (unknown === undefined)
    return found.length === 0 ? dialogText`none` : joinDialogTexts(found, ', ')
  return found.length === 0
    ? dialogText`not known (${unknown})`
    : dialogText`${joinDialogTexts(found, ', ')}, maybe more (${unknown})`
}

/** A number as people know it: `+12025550110 ("Main line")`. */
export function numberInWords({
  id,
  number,
  friendly_name: name,
}: Pick<PhoneNumber, 'id' | 'number' | 'friendly_name'>): DialogText {
  const known = wordOrQuoted(number ?? id)
  return name ? dialogText`${known} (${quotedUpTo(name, 100)})` : known
}
