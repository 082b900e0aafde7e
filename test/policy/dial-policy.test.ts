import { describe, expect, test } from 'vitest'
import { createDialPolicy } from '../../src/policy/dial-policy.ts'
import type { DialPolicyConfig } from '../../src/policy/dial-policy-config.ts'
import type { DialRequest } from '../../src/policy/dial-rules.ts'
import { createSqliteCallCounter } from '../../src/state/sqlite/sqlite-call-counter.ts'
import { StateError } from '../../src/state/state-access.ts'

/** A Monday at noon in Berlin. */
const noon = Date.parse('2026-11-02T11:00:00Z')
const source = '/etc/dial.json'

const phone = (toNumber: string | null, rest: Partial<DialRequest> = {}): DialRequest => ({
  agentId: 'a-1',
  agentName: 'Front desk',
  type: 'phone',
  fromNumber: '+4930123456',
  toNumber,
  ...rest,
})
const web = phone(null, { type: 'web', fromNumber: null })

function policyOf(config: DialPolicyConfig | undefined, at = noon) {
  const clock = { at }
  const counter = createSqliteCallCounter(':memory:', '--state-dir', () => clock.at)
  return { clock, counter, ...createDialPolicy({ config, source, counter, now: () => clock.at }) }
}

describe('without a policy', () => {
  test('an ordinary number is allowed, with its country and type', async () => {
    const verdict = await policyOf(undefined).check(phone('+4915112345678'))
    expect(verdict).toEqual({ allowed: true, destination: { country: 'DE', type: 'MOBILE' } })
  })

  test.each([
    ['+49112', 'emergency'],
    ['+449012345678', 'premium'],
    ['+99912345678', 'invalid_number'],
    [null, 'invalid_number'],
  ])('%s is refused as %s', async (number, rule) => {
    const verdict = await policyOf(undefined).reserve(phone(number))
    expect(verdict).toMatchObject({ allowed: false, rule, retryAfterSeconds: null })
    // No setting could allow the call, so the message suggests none.
    expect(Object(verdict).change).not.toContain(source)
  })
})

describe('a destination', () => {
  const cases: [DialPolicyConfig, string, string | undefined][] = [
    [{ allow_countries: ['DE'] }, '+4930123456', undefined],
    [{ allow_countries: ['DE'] }, '+33142345678', 'allow_countries'],
    [{ allow_countries: ['US'] }, '+14165550123', 'allow_countries'],
    [{ allow_prefixes: ['+1202555'] }, '+12025550123', undefined],
    [{ allow_prefixes: ['+1202555'] }, '+12026550123', 'allow_prefixes'],
    [{ allow_prefixes: ['+1202555'], allow_countries: ['DE'] }, '+4930123456', undefined],
    [{ allow_prefixes: ['+1202555'], allow_countries: ['DE'] }, '+12025550123', undefined],
    [{ allow_prefixes: ['+49'], deny_prefixes: ['+4930'] }, '+4930123456', 'deny_prefixes'],
    [{ allow_prefixes: ['+49'], deny_countries: ['DE'] }, '+4930123456', 'deny_countries'],
    [{ deny_countries: ['DE'] }, '+33142345678', undefined],
    // Rules about countries cannot apply to a number without a country.
    [{ deny_countries: ['DE'] }, '+80012345678', 'deny_countries'],
    [{ allow_countries: ['DE'] }, '+80012345678', 'allow_countries'],
    [{ allow_prefixes: ['+800'], allow_countries: ['DE'] }, '+80012345678', undefined],
    [{ quiet_hours: [{ from: '21:00', to: '08:00' }] }, '+80012345678', 'quiet_hours'],
    [{}, '+80012345678', undefined],
    // Lists cannot allow emergency or premium numbers.
    [{ allow_prefixes: ['+49'] }, '+49112', 'emergency'],
    [{ allow_prefixes: ['+49900'] }, '+499001234567', 'premium'],
  ]
  test.each(cases)('%j, %s: %s', async (config, number, rule) => {
    const verdict = await policyOf(config).check(phone(number))
    expect(verdict.allowed ? undefined : verdict.rule).toBe(rule)
  })

  test('that is refused has an explanation that names who can change the rule', async () => {
    const policy = policyOf({ allow_countries: ['DE', 'AT'], allow_prefixes: ['+1202'] })
    const verdict = await policy.check(phone('+33142345678'))
    expect(verdict).toMatchObject({ rule: 'allow_countries', retryAfterSeconds: null })
    expect(verdict).toMatchSnapshot()
  })
})

describe('agents and callers', () => {
  const uuid = '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11'
  test.each<[boolean, string, Partial<DialRequest>]>([
    [true, 'a-1', { agentName: null }],
    [true, uuid.toUpperCase(), { agentId: uuid }],
    [true, 'name:Front desk', {}],
    [false, 'name:front desk', {}],
    [false, 'name:Front desk', { agentName: null }],
    [false, 'name:a-1', {}],
    // An entry without `name:` is an id, even if an agent has this name.
    [false, 'Front desk', {}],
    [false, uuid, { agentName: uuid }],
    [false, 'name:Front desk', { agentName: 'name:Front desk' }],
  ])('allowed %s by the entry %s', async (allowed, entry, agent) => {
    const decision = await policyOf({ allow_agents: [entry] }).check(phone('+4930123456', agent))
    expect(decision).toMatchObject(allowed ? { allowed } : { allowed, rule: 'allow_agents' })
  })

  test('a caller number is required, and must be in the list', async () => {
    const policy = policyOf({ allow_from: ['+4930123456'] })
    expect(await policy.check(phone('+4930123456'))).toMatchObject({ allowed: true })
    for (const fromNumber of ['+4930123457', null]) {
      expect(await policy.check(phone('+4930123456', { fromNumber }))).toMatchObject({
        rule: 'allow_from',
      })
    }
  })

  test('a forbidden agent is reported before quiet hours and after emergency numbers', async () => {
    const policy = policyOf({
      allow_agents: ['other'],
      quiet_hours: [{ from: '00:00', to: '24:00' }],
    })
    expect(await policy.check(phone('+4930123456'))).toMatchObject({ rule: 'allow_agents' })
    expect(await policy.check(phone('+49112'))).toMatchObject({ rule: 'emergency' })
  })
})

describe('quiet hours', () => {
  const config = { quiet_hours: [{ from: '21:00', to: '08:00' }] }

  test('apply in the time zone of the called number, and the refusal has their end', async () => {
    const policy = policyOf(config)
    expect(await policy.check(phone('+4930123456'))).toMatchObject({ allowed: true })
    expect(await policy.check(phone('+12125550123'))).toMatchObject({
      rule: 'quiet_hours',
      message: expect.stringMatching(/06:00 in America\/New_York\b.*\(21:00 to 08:00\)/),
      retryAfterSeconds: 2 * 3600,
    })
  })

  test('apply in every time zone that the number may be in', async () => {
    const verdict = await policyOf(config, Date.parse('2026-11-02T22:00:00Z')).check(
      phone('+61491570156'),
    )
    expect(verdict).toMatchObject({
      rule: 'quiet_hours',
      message: expect.stringContaining('Australia/'),
    })
  })
})

describe('limits', () => {
  test('count reservations, but not checks', async () => {
    const policy = policyOf({ max_per_minute: 1 })
    await policy.check(phone('+4930123456'))
    expect(await policy.reserve(phone('+4930123456'))).toMatchObject({
      allowed: true,
      id: expect.any(String),
    })
    policy.clock.at += 20_500
    const refused = {
      rule: 'max_per_minute',
      message: 'No more calls at the moment: 1 call a minute is allowed.',
      retryAfterSeconds: 40,
    }
    expect(await policy.check(phone('+4930123456'))).toMatchObject(refused)
    expect(await policy.reserve(phone('+4930123456'))).toMatchObject(refused)
  })

  test('count web calls, to which no other rule than allow_agents applies', async () => {
    const policy = policyOf({
      allow_countries: ['DE'],
      allow_from: ['+4930123456'],
      quiet_hours: [{ from: '00:00', to: '24:00' }],
      max_per_hour: 1,
    })
    expect(await policy.reserve(web)).toMatchObject({
      allowed: true,
      destination: { country: null, type: null },
    })
    expect(await policy.reserve(web)).toMatchObject({ rule: 'max_per_hour' })
    expect(await policyOf({ allow_agents: ['x'] }).check(web)).toMatchObject({
      rule: 'allow_agents',
    })
  })

  test('for concurrent calls allow another call when one has ended, was not placed or is too old', async () => {
    const policy = policyOf({ max_at_once: 1 })
    const reserve = async () => {
      const verdict = await policy.reserve(web)
      return verdict.allowed ? verdict.id : verdict.rule
    }
    await policy.ended(await reserve())
    await policy.notPlaced(await reserve())
    const id = await reserve()
    expect(await reserve()).toBe('max_at_once')
    policy.clock.at += 11 * 3_600_000
    await policy.renew(id)
    policy.clock.at += 11 * 3_600_000
    expect(await reserve()).toBe('max_at_once')
    policy.clock.at += 3_600_000
    expect(await policy.check(web)).toMatchObject({ allowed: true })
  })

  test('in total apply to this process, even for concurrent requests', async () => {
    const policy = policyOf({ max_total: 2 })
    const verdicts = await Promise.all([1, 2, 3, 4].map(() => policy.reserve(web)))
    const placed = verdicts.filter((verdict) => verdict.allowed)
    expect(placed).toHaveLength(2)
    policy.clock.at += 1e9
    expect(await policy.check(web)).toMatchObject({ rule: 'max_total', retryAfterSeconds: null })
    await policy.notPlaced(placed[0]?.id ?? '')
    expect(await policy.reserve(web)).toMatchObject({ allowed: true })
    expect(await policy.reserve(web)).toMatchObject({ rule: 'max_total' })
  })

  test('refuse every call if calls cannot be counted', async () => {
    const broken = () => Promise.reject(new StateError('locked'))
    const counter = {
      ...createSqliteCallCounter(':memory:', '--state-dir'),
      check: broken,
      reserve: broken,
      ended: broken,
    }
    const policy = createDialPolicy({ config: { max_per_hour: 5 }, source, counter })
    await expect(policy.check(web)).rejects.toThrow(StateError)
    await expect(policy.reserve(web)).rejects.toThrow(StateError)
    await policy.ended('x')
    const unlimited = createDialPolicy({ config: {}, source, counter })
    expect(await unlimited.reserve(web)).toMatchObject({ allowed: true })
  })
})
