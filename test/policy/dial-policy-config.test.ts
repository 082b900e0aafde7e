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

test('one quiet period may be given without a list', () => {
  const hours = { from: '21:00', to: '08:00' }
  expect(parseDialPolicy(JSON.stringify({ quiet_hours: hours }), 'x')).toEqual({
    quiet_hours: [hours],
  })
})

test.each([
  [{ max_per_hours: 3 }, /\bmax_per_hours: .*\bmax_per_hour\b/],
  [{ quiethours: {} }, /\bquiethours: .*\bquiet_hours\b/],
  // No field has a similar name, so the message lists all.
  [{ wibble: 1 }, /\bwibble: .*\ballow_prefixes, .*\bmax_total\b/],
  [{ quiet_hours: { from: '21:00', to: '08:00', day: [] } }, /\bquiet_hours\.0\.day: .*\bdays\b/],
  [{ quiet_hours: { from: '21:00', to: '21:00' } }, /\bquiet_hours\.0: .*\b00:00 to 24:00\b/],
  [{ quiet_hours: { from: '9:00', to: '25:00' } }, /\bquiet_hours\.0\.from: .*\b21:00\b/],
  [{ allow_prefixes: ['0049'] }, /\ballow_prefixes\.0: .*\+49\b/],
  [{ allow_countries: [] }, /\ballow_countries: \w/],
  [{ allow_countries: ['Germany'] }, /\ballow_countries\.0: .*\bGermany\b/],
  [{ deny_countries: ['EU'] }, /\bdeny_countries\.0: .*\bEU\b/],
  [{ allow_agents: ['name:'] }, /\ballow_agents\.0: .*\bname:/],
  [{ allow_from: ['12'] }, /\ballow_from\.0: .*\+4930123456\b/],
  [{ allow_from: ['+1 (202) 555-0100'] }, /\ballow_from\.0: .*did you mean \+12025550100\?/],
  [{ deny_prefixes: ['0049 (0)30'] }, /\bdeny_prefixes\.0: .*did you mean \+4930\?/],
  [{ zones: { '+1 689': 'America/New_York' } }, /\bzones\.\+1 689: .*did you mean \+1689\?/],
  [{ max_per_day: -1 }, /\bmax_per_day: \w/],
  [{ max_per_day: '5' }, /\bmax_per_day: \w/],
  [{ zones: { '+1689': 'Orlando' } }, /\bzones\.\+1689\.0: .*\bAmerica\//],
  [{ zones: { '+1689': '-05:00' } }, /\bzones\.\+1689\.0: .*\bAmerica\//],
  [{ zones: { '1689': 'America/New_York' } }, /\bzones\.1689: \w/],
  ['{"max_per_day": 1,\n "max_per_day": 100}', /\bmax_per_day\b.*\bline 2\b/],
  [
    '{"quiet_hours": [{"from": "21:00", "to": "08:00", "\\u0074o": "22:00"}]}',
    /\bquiet_hours\.0\.to\b/,
  ],
  [[], /: [^:]+: \w/],
  ['{', /\bJSON: \w/],
])('%j is refused with the names of the file and the field', (value, text) => {
  expect(refused(value)).toContain('(/etc/dial.json)')
  expect(refused(value)).toMatch(text)
})

test('a country may be written in small letters or as UK', () => {
  expect(parseDialPolicy('{"deny_countries": ["uk", "de"]}', 'x')).toEqual({
    deny_countries: ['GB', 'DE'],
  })
})

test('the accepted countries are those that a number can have', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const taken = letters
    .flatMap((one) => letters.map((other) => one + other))
    .map((code) => refused({ allow_countries: [code] }))
    .flatMap((policy) => (typeof policy === 'string' ? [] : (policy.allow_countries ?? [])))
  expect([...new Set(taken)].sort()).toEqual(getCountries().sort())
})
