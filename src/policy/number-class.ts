import { type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { emergencyCodes, isE164 } from '../text/phone-number.ts'

export type NumberClass =
  | {
      readonly kind: 'ordinary'
      /** ISO 3166-1 alpha-2; `null` for numbers without a country, such as +800. */
      readonly country: string | null
      /** libphonenumber's type, such as MOBILE; `null` if the number does not show it. */
      readonly type: string | null
    }
  | {
      readonly kind: 'emergency' | 'premium' | 'invalid_number'
      /** Reason in words that follow the number in a sentence, such as `is not an E.164 number`. */
      readonly reason: string
    }

/**
 * Country calling codes without a country (ITU-T E.164 D): Inmarsat, universal personal numbers,
 * satellite phones, global networks, disaster relief, premium rate, trials. A call costs several
 * dollars a minute; +882 and +883 are known for revenue fraud.
 */
const expensive = /^(?:870|878|881|882|883|888|979|991)/

/**
 * Number types that cost more than an ordinary call: premium rate, revenue sharing, and personal
 * numbers, which forward anywhere at the caller's expense.
 */
const premiumTypes: Readonly<Record<string, string>> = {
  PREMIUM_RATE: 'a premium-rate number',
  SHARED_COST: 'a shared-cost number, which costs more than an ordinary call',
  PERSONAL_NUMBER: 'a personal number, which forwards to anywhere at the cost of the caller',
}

/**
 * Premium ranges that libphonenumber 1.13 assigns to another type: the 976 exchange and directory
 * assistance of every North American area code (NANPA), Finnish service numbers (Traficom), 707 and
 * 708 in Portugal (ANACOM), Japan's Navi Dial (0570).
 */
const premiumRanges = /^\+(?:1\d{3}(?:976\d{4}|5551212)$|358(?:100|20[02])|35170[78]|81570)/

/**
 * Ranges reserved for fiction and documentation that libphonenumber rejects as invalid (Ofcom,
 * ARCEP, ComReg). Documents and the sandbox use these ranges. libphonenumber accepts the other
 * known ranges: North America's 555-01xx, London's 020 7946 0xxx, and those of Germany, Australia
 * and Sweden.
 */
const fictional: readonly [range: RegExp, country: string, type: string][] = [
  [/^\+447700900\d{3}$/, 'GB', 'MOBILE'],
  [/^\+441632960\d{3}$/, 'GB', 'FIXED_LINE'],
  [/^\+3363998\d{4}$/, 'FR', 'MOBILE'],
  [/^\+3532091\d{5}$/, 'IE', 'MOBILE'],
]

/**
 * Countries whose ordinary numbers may have only four digits. In other countries such numbers are
 * short codes.
 */
const shortPlans: ReadonlySet<string> = new Set(['LU', 'NU', 'TA', 'TK'])

/** Classifies a number: ordinary, or never dialled, with the reason. */
export function classifyNumber(number: string): NumberClass {
  if (!isE164(number)) {
    return { kind: 'invalid_number', reason: 'is not an E.164 number such as +4930123456' }
  }
  const digits = number.slice(1)
  if (emergencyCodes.has(digits)) return emergency(digits)
  if (expensive.test(digits)) {
    return { kind: 'premium', reason: 'is in a satellite, global or premium network' }
  }
  const fiction = fictional.find(([range]) => range.test(number))
  if (fiction) return { kind: 'ordinary', country: fiction[1], type: fiction[2] }
  const parsed = parsePhoneNumberFromString(number)
  if (!parsed)
    return { kind: 'invalid_number', reason: 'does not begin with a country calling code' }
  return shortCode(parsed, digits) ?? premium(parsed) ?? ordinary(parsed, number)
}

function shortCode(parsed: PhoneNumber, digits: string): NumberClass | undefined {
  // Keeps leading zeros. `nationalNumber` lacks the trunk prefix 0, which libphonenumber drops.
  const national = digits.slice(parsed.countryCallingCode.length)
  const withoutTrunk = national.replace(/^0+/, '')
  const code = [national, withoutTrunk, parsed.nationalNumber].find((one) =>
    emergencyCodes.has(one),
  )
  if (code !== undefined) return emergency(code)
  const { country } = parsed
  if (withoutTrunk.length <= 4 && !(country && shortPlans.has(country) && parsed.isValid())) {
    return {
      kind: 'emergency',
      reason: `is a short code (${national}), which may reach an emergency service`,
    }
  }
  // No exchange in North America has the number 911, so such a number may reach the emergency
  // service. Toll-free numbers have no exchange and are exempt.
  const isNorthAmerican = parsed.countryCallingCode === '1' && parsed.getType() !== 'TOLL_FREE'
  if (isNorthAmerican && /^\d{3}911/.test(national)) return emergency('911')
  const behind = country && codesBehindAreaCode[country]
  // Valid mobile numbers are exempt: they have no area code, so the 110 in +49 1510 1101234 reaches
  // no emergency service.
  if (!behind || (parsed.isValid() && parsed.getType() === 'MOBILE')) return undefined
  const [, last = '', ...more] = parsed.formatNational().split(/[ -]/)
  const [reached] = (more.length === 0 && behind.exec(last)) || []
  return reached ? emergency(reached) : undefined
}

const emergency = (code: string): NumberClass => ({
  kind: 'emergency',
  reason: `leads to the emergency number ${code}`,
})

function premium(parsed: PhoneNumber): NumberClass | undefined {
  const type = parsed.getType()
  const reason = type && premiumTypes[type]
  if (reason) return { kind: 'premium', reason: `is ${reason}` }
  if (!premiumRanges.test(parsed.number)) return undefined
  return { kind: 'premium', reason: 'is in a range of premium-rate numbers' }
}

function ordinary(parsed: PhoneNumber, number: string): NumberClass {
  if (!parsed.isPossible() || !parsed.isValid()) {
    return {
      kind: 'invalid_number',
      reason: `does not exist: +${parsed.countryCallingCode} has no numbers of that length with that beginning`,
    }
  }
  // Rules compare number prefixes, so an additional digit would bypass the rules.
  if (parsed.number !== number) {
    return {
      kind: 'invalid_number',
      reason: `has digits that are dialled only within its country; write ${parsed.number}`,
    }
  }
  return { kind: 'ordinary', country: parsed.country ?? null, type: parsed.getType() ?? null }
}

/**
 * Emergency codes that reach the emergency service of an area if they follow its area code,
 * although libphonenumber takes the number for an ordinary one: +49 30 110. German exchanges may
 * connect at the last digit of the code, whatever follows. No subscriber number in an area begins
 * with the code.
 */
const codesBehindAreaCode: Readonly<Record<string, RegExp>> = {
  AT: /^1(?:12|22|28|33|4[0-4]|47)$/,
  DE: /^11[02]/,
  IT: /^11[2-8]$/,
  KR: /^11[1-9]$/,
}
