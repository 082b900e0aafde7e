import { getCountries } from 'libphonenumber-js/max'
import { expect, test } from 'vitest'
import { DialPolicyError, parseDialPolicy } from '../../src/policy/dial-policy-config.ts'

const refused = (value: unknown) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  try {
    return parseDialPolicy(text, '/etc/dial.json')
  } catch (error) {
    if (error instanceof DialPolicyError) return error.message
    throw error
  }
}

test('a policy with all fields is read', () => {
  const policy = {
    allow_prefixes: ['+49', '+1202555'],
    deny_prefixes: ['+4932'],
    allow_countries: ['DE', 'US'],
    deny_countries: ['KP'],
    allow_agents: ['a-1', 'name:Front desk'],
    allow_from: ['+4930123456'],
    quiet_hours: [{ from: '21:00', to: '08:00', days: ['mon'] }],
    zones: { '+1689': ['America/New_York'], '+1': ['America/New_York', 'America/Chicago'] },
    max_per_minute: 1,
    max_per_hour: 10,
    max_per_day: 50,
    max_at_once: 2,
    max_total: 100,
  }
  expect(parseDialPolicy(`\uFEFF${JSON.stringify(policy)}`, 'x')).toEqual(policy)
})

test('one quiet time may be given without a list', () => {
  const hours = { from: '21:00', to: '08:00' }
  expect(parseDialPolicy(JSON.stringify({ quiet_hours: hours }), 'x')).toEqual({
    quiet_hours: [hours],
  })
})

test.each([
  [{ max_per_hours: 3 }, 'max_per_hours: unknown field; did you mean max_per_hour?'],
  [{ quiethours: {} }, 'quiethours: unknown field; did you mean quiet_hours?'],
  [{ wibble: 1 }, 'wibble: unknown field; the fields are allow_prefixes, '],
  [
    { quiet_hours: { from: '21:00', to: '08:00', day: [] } },
    'quiet_hours.0.day: unknown field; did you mean days?',
  ],
  [{ quiet_hours: { from: '21:00', to: '21:00' } }, '00:00 to 24:00 is the whole day'],
  [
    { quiet_hours: { from: '9:00', to: '25:00' } },
    'quiet_hours.0.from: Expected a time such as 21:00',
  ],
  [{ allow_prefixes: ['0049'] }, 'allow_prefixes.0: Expected the start of an E.164 number'],
  [{ allow_countries: [] }, 'allow_countries: Expected at least one'],
  [{ allow_countries: ['Germany'] }, 'allow_countries.0: Expected a country'],
  [{ deny_countries: ['EU'] }, 'deny_countries.0: Expected a country'],
  [{ allow_agents: ['name:'] }, 'allow_agents.0: Expected the name of an agent'],
  [{ allow_from: ['12'] }, 'allow_from.0: Expected an E.164 number'],
  [{ max_per_day: -1 }, 'max_per_day: '],
  [{ max_per_day: '5' }, 'max_per_day: '],
  [{ zones: { '+1689': 'Orlando' } }, 'zones.+1689.0: Expected a time zone such as America/'],
  [{ zones: { '+1689': '-05:00' } }, 'zones.+1689.0: Expected a time zone such as America/'],
  [{ zones: { '1689': 'America/New_York' } }, 'zones.1689: '],
  [
    '{"max_per_day": 1,\n "max_per_day": 100}',
    'max_per_day is given twice, the second time in line 2',
  ],
  [
    '{"quiet_hours": [{"from": "21:00", "to": "08:00", "\\u0074o": "22:00"}]}',
    'quiet_hours.0.to is given twice',
  ],
  [[], 'the whole: '],
  ['{', 'is not JSON: '],
])('%j is refused by naming the file and the field', (value, text) => {
  expect(refused(value)).toContain('The dial policy (/etc/dial.json) ')
  expect(refused(value)).toContain(text)
})

test('a country may be written in small letters or as UK', () => {
  expect(parseDialPolicy('{"deny_countries": ["uk", "de"]}', 'x')).toEqual({
    deny_countries: ['GB', 'DE'],
  })
})

test('the countries it accepts are those a number can have', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const taken = letters
    .flatMap((one) => letters.map((other) => one + other))
    .map((code) => refused({ allow_countries: [code] }))
    .flatMap((policy) => (typeof policy === 'string' ? [] : (policy.allow_countries ?? [])))
  expect([...new Set(taken)].sort()).toEqual(getCountries().sort())
})
