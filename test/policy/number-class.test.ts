import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max'
import { describe, expect, test } from 'vitest'
import { classifyNumber } from '../../src/policy/number-class.ts'

describe('emergency numbers', () => {
  test.each([
    // An emergency number alone, which only looks like an E.164 number.
    '+112',
    '+911',
    '+999',
    '+110',
    '+119',
    '+113',
    '+10111',
    // After the country calling code.
    '+1911',
    '+1112',
    '+1988',
    '+11911',
    '+49110',
    '+49112',
    '+44999',
    '+44112',
    '+33112',
    '+3315',
    '+3317',
    '+3318',
    '+34112',
    '+39112',
    '+39118',
    '+31112',
    '+32100',
    '+32112',
    '+41117',
    '+41144',
    '+43122',
    '+43133',
    '+45112',
    '+46112',
    '+4690000',
    '+47113',
    '+48997',
    '+351112',
    '+353999',
    '+358112',
    '+420155',
    '+61000',
    '+64111',
    '+81110',
    '+81119',
    '+82119',
    '+86110',
    '+86120',
    '+91112',
    '+91100',
    '+55190',
    '+52911',
    '+54911',
    '+56133',
    '+7112',
    '+7102',
    '+27112',
    '+2710111',
    '+26410111',
    '+20122',
    '+234199',
    '+254999',
    '+971999',
    '+972100',
    '+65995',
    '+852999',
    '+60999',
    '+66191',
    '+62112',
    '+63911',
    '+84113',
    '+90155',
    '+380112',
    '+683999',
    '+298112',
    '+376112',
    // After one or more trunk prefixes (0).
    '+490112',
    '+4900112',
    '+440999',
    '+610000',
    // After an area code, in countries that connect such calls.
    '+4930110',
    '+493011012345',
    '+12129111234',
    '+4930112',
    '+49201110',
    '+4989112',
    '+493641112',
    '+43316133',
    '+431144',
    '+39010112',
    '+822119',
    '+8231112',
    // Short codes that may reach emergency services.
    '+49115',
    '+44101',
    '+1211',
    '+5982112',
  ])('%s', (number) => {
    expect(classifyNumber(number).kind).toBe('emergency')
  })

  test('include every emergency code after every calling code', () => {
    const callable = callingCodes().flatMap((code) =>
      ['112', '911', '999', '110', '119', '000', '118'].filter(
        (emergency) => classifyNumber(`+${code}${emergency}`).kind !== 'emergency',
      ),
    )
    expect(callable).toEqual([])
  })

  test('do not include ordinary numbers that contain an emergency code', () => {
    for (const number of [
      '+33112345678',
      '+4930212233',
      // Mobile numbers have no area code.
      '+4915101101234',
      '+18009111234',
      '+12125550911',
      '+376712112',
      '+6834002',
      '+29022158',
    ]) {
      expect(classifyNumber(number).kind, number).toBe('ordinary')
    }
  })
})

describe('premium numbers', () => {
  test.each([
    '+19005551234',
    '+12129761234',
    '+12125551212',
    '+15005551234',
    '+16225551234',
    '+449012345678',
    '+448450000000',
    '+448712345678',
    '+447012345678',
    '+449098790123',
    '+499001234567',
    '+491371234567',
    '+4918012345',
    '+43900123456',
    '+43810123456',
    '+41900123456',
    '+33890123456',
    '+33820123456',
    '+39899123456',
    '+39199123456',
    '+34803123456',
    '+34902123456',
    '+3290012345',
    '+31900123456',
    '+319001234',
    '+46939123456',
    '+4782912345',
    '+4590123456',
    '+358600123456',
    '+358700123456',
    '+358100123456',
    '+358200123456',
    '+358202123456',
    '+351760123456',
    '+351707123456',
    '+3531550123456',
    '+48701234567',
    '+420900123456',
    '+40900123456',
    '+38690123456',
    '+37090012345',
    '+37190123456',
    '+3729001234',
    '+78091234567',
    '+909001234567',
    '+611902123456',
    '+611300123456',
    '+64900123456',
    '+810990123456',
    '+81570123456',
    '+8616812345',
    '+9118601234567',
    '+661900123456',
    '+601600123456',
    '+886203123456',
    '+85290060000001',
    '+27862345678',
    '+559001234567',
    '+529001234567',
    '+5719012345678',
    '+309011234567',
    // Calling codes without a country: Inmarsat, personal numbers, satellite, networks, premium,
    // shared cost.
    '+870772001234',
    '+878101234567890',
    '+881612345678',
    '+882161234567',
    '+883510012345',
    '+979123456789',
    '+80812345678',
    '+888123456789',
    '+991123456789',
  ])('%s', (number) => {
    expect(classifyNumber(number).kind).toBe('premium')
  })
})

describe('an ordinary number has a country and a type', () => {
  test.each([
    ['+12125550123', 'US', 'FIXED_LINE_OR_MOBILE'],
    ['+14165550123', 'CA', 'FIXED_LINE_OR_MOBILE'],
    ['+18005550199', 'US', 'TOLL_FREE'],
    ['+17875551234', 'PR', 'FIXED_LINE_OR_MOBILE'],
    ['+18765551234', 'JM', 'MOBILE'],
    ['+493023125123', 'DE', 'FIXED_LINE'],
    ['+4915112345678', 'DE', 'MOBILE'],
    ['+442079460123', 'GB', 'FIXED_LINE'],
    ['+447911123456', 'GG', 'MOBILE'],
    ['+33142345678', 'FR', 'FIXED_LINE'],
    ['+262262123456', 'RE', 'FIXED_LINE'],
    ['+390694802015', 'IT', 'FIXED_LINE'],
    ['+34912345678', 'ES', 'FIXED_LINE'],
    ['+41446681800', 'CH', 'FIXED_LINE'],
    ['+431234567', 'AT', 'FIXED_LINE'],
    ['+61491570156', 'AU', 'MOBILE'],
    ['+74951234567', 'RU', 'FIXED_LINE'],
    ['+77172123456', 'KZ', 'FIXED_LINE'],
    ['+5511987654321', 'BR', 'MOBILE'],
    ['+919876543210', 'IN', 'MOBILE'],
    ['+9779812345678', 'NP', 'MOBILE'],
    ['+38344123456', 'XK', 'MOBILE'],
    ['+80012345678', null, 'TOLL_FREE'],
  ])('%s is %s, %s', (number, country, type) => {
    expect(classifyNumber(number)).toEqual({ kind: 'ordinary', country, type })
  })

  test.each([
    ['North America', '+12025550100', '+12025550109', '+12025550199'],
    ['the United Kingdom', '+442079460999', '+447700900123', '+441632960123', '+441134960000'],
    ['Germany', '+493023125000', '+494066969123', '+498999998999', '+4915228817386'],
    ['France', '+33199001234', '+33639981234', '+33261911234', '+33536491234'],
    ['Ireland', '+353209123456', '+353857000001'],
    ['Australia', '+61255501234', '+61491570006', '+611800160401'],
    ['Sweden', '+46850000123', '+46317900123', '+46701740605'],
  ])('so do the numbers reserved for fiction in %s', (_, ...numbers) => {
    for (const number of numbers)
      expect(classifyNumber(number), number).toMatchObject({ kind: 'ordinary' })
  })
})

test.each([
  '+49',
  '49301234567',
  '+0301234567',
  '+49 30 1234567',
  '',
  '+1234567890123456',
  '+99912345678',
  '+11234567890',
  '+12021234567890',
  '+3361234567',
  '+44790012345',
  '+493',
])('%s is no valid number', (number) => {
  expect(classifyNumber(number).kind).not.toBe('ordinary')
})

test('a number has one spelling, so no trunk prefix hides its beginning', () => {
  for (const [number, right] of [
    ['+490302312512', '+49302312512'],
    ['+4402079460123', '+442079460123'],
    ['+112025550123', '+12025550123'],
    ['+789161234567', '+79161234567'],
  ]) {
    const reason = expect.stringContaining(`write ${right}`)
    expect(classifyNumber(number ?? ''), number).toEqual({ kind: 'invalid_number', reason })
  }
  expect(classifyNumber('+4409012345678').kind).toBe('premium')
  expect(classifyNumber('+49030112').kind).toBe('emergency')
})

test('a number that does not exist is invalid', () => {
  expect(classifyNumber('+3361234567')).toMatchObject({ kind: 'invalid_number' })
  expect(classifyNumber('+99912345678')).toMatchObject({ kind: 'invalid_number' })
})

/** Calling codes of all countries. */
const callingCodes = () => [
  ...new Set(getCountries().map((country) => getCountryCallingCode(country))),
]
