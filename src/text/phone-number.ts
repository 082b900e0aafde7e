/** E.164: a plus sign, no leading zero, at most 15 digits. */
export const e164Pattern = /^\+[1-9]\d{1,14}$/

export const isE164 = (text: string): boolean => e164Pattern.test(text)

/**
 * The beginning of an E.164 number: a plus sign and at least the first digit of a country calling
 * code.
 */
export const e164PrefixPattern = /^\+[1-9]\d{0,14}$/

/**
 * Converts a phone number, or its beginning, from the way people write it to E.164: `+1 (202)
 * 555-0100`, `0044 (0)20`.
 */
function prefixMeant(text: string): string | undefined {
  const prefix = text.replaceAll(/\(0\)|[\s()./-]/g, '').replace(/^00/, '+')
  return e164PrefixPattern.test(prefix) ? prefix : undefined
}

/**
 * Converts an international phone number from the way people write it to E.164; `undefined` for a
 * short number, because it may be a short code.
 */
export function e164Meant(text: string): string | undefined {
  const number = prefixMeant(text)
  return number !== undefined && number.length > 7 ? number : undefined
}

/** Error text for a text that is not E.164, with the number that was probably meant. */
export const e164Expected = (given: unknown): string =>
  expected('an E.164 number', '+4930123456', e164Meant(String(given)))

/**
 * Error text for a text that is not the beginning of an E.164 number, with the beginning that was
 * probably meant.
 */
export const e164PrefixExpected = (given: unknown): string =>
  expected('the start of an E.164 number', '+49', prefixMeant(String(given)))

const expected = (what: string, example: string, meant: string | undefined) =>
  `expected ${what}${meant === undefined ? ` such as ${example}` : `; did you mean ${meant}?`}`

/** Error text for a text that is not a number to call: an emergency number, or not E.164. */
export const callableExpected = (given: unknown): string =>
  isEmergencyNumber(String(given)) ? emergencyNever : e164Expected(given)

export const emergencyNever = 'emergency numbers are never called; a person has to dial them'

const isEmergencyNumber = (text: string) => emergencyCodes.has(text.replaceAll(/[\s().+-]/g, ''))

/**
 * Emergency codes of all countries: police, fire, ambulance, coast guard, helplines. They are not
 * E.164 numbers, but a telephone switch may connect a calling code that is followed by such a code.
 * So no number of that form is ever dialled, also not with the emergency code of another country. A
 * code of at most four digits that is missing here is refused as a short code. Sources: ITU-T E.129
 * and its list of national numbering plans, and the emergency patterns of libphonenumber's short
 * numbers.
 */
export const emergencyCodes: ReadonlySet<string> = new Set(
  (
    '000 001 002 003 011 022 033 050 060 065 066 068 080 085 088 ' +
    '100 101 102 103 104 105 106 107 108 109 ' +
    '110 111 112 113 114 115 116 117 118 119 ' +
    '120 122 123 124 125 126 127 128 129 130 131 132 133 134 140 141 142 143 144 145 147 ' +
    '150 151 152 153 154 155 156 157 158 159 160 161 166 170 171 172 175 177 180 185 188 ' +
    '190 191 192 193 194 195 196 197 198 199 211 311 333 355 411 511 555 611 666 711 811 819 888 ' +
    '901 902 903 911 912 913 914 915 917 919 922 933 955 977 988 ' +
    '990 991 992 993 994 995 996 997 998 999 ' +
    '1220 1298 1444 1669 1730 2611 9999 10111 10177 90000'
  ).split(' '),
)
