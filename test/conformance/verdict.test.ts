import { describe, expect, test } from 'vitest'
import type { ExpectedFailure } from './expected-failures.ts'
import type { Check } from './suite.ts'
import { applies, concerns } from './targets.ts'
import { judge, type Run, unusedOf } from './verdict.ts'

const run: Run = {
  line: '0.2',
  revision: '2025-11-25',
  target: 'fixture over HTTP',
  scenario: 'ping',
}
const check = (status: Check['status'], id = 'a'): Check => ({ id, status, errorMessage: 'Oh' })

const wholly: ExpectedFailure = {
  targets: ['fixture over HTTP'],
  revisions: ['2025-11-25'],
  scenarios: ['ping'],
  reason: 'It cannot.',
}
const oneCheck: ExpectedFailure = { ...wholly, checks: ['a'] }

describe('a scenario', () => {
  test('passes when all its checks do', () => {
    expect(judge(run, [check('SUCCESS'), check('SKIPPED'), check('INFO')], [])).toEqual({
      ...run,
      outcome: 'passed',
      passed: 1,
    })
  })

  test.each(['FAILURE', 'WARNING'] as const)('fails with a check that ends in %s', (status) => {
    const verdict = judge(run, [check('SUCCESS', 'b'), check(status)], [])
    expect(verdict).toMatchObject({ outcome: 'failed', reason: 'a: Oh' })
  })

  test('fails without a result', () => {
    expect(judge(run, undefined, [wholly]).outcome).toBe('failed')
  })

  test('is skipped, not passed, when nothing was checked', () => {
    const verdict = judge(run, [check('SKIPPED')], [])
    expect(verdict).toMatchObject({ outcome: 'skipped', reason: 'a: Oh' })
  })

  test('that is expected to fail may', () => {
    const verdict = judge(run, [check('FAILURE')], [wholly])
    expect(verdict).toMatchObject({ outcome: 'expected', reason: 'It cannot.' })
  })

  test('that is expected to fail and passes is an error', () => {
    expect(judge(run, [check('SUCCESS')], [wholly]).outcome).toBe('failed')
  })

  test('is expected to fail only where the list says', () => {
    const elsewhere: Run = { ...run, target: 'fixture over stdio' }
    expect(judge(elsewhere, [check('FAILURE')], [wholly]).outcome).toBe('failed')
  })
})

describe('one check that is expected to fail', () => {
  test('excuses no other', () => {
    const checks = [check('FAILURE'), check('FAILURE', 'b')]
    expect(judge(run, checks, [oneCheck])).toMatchObject({ outcome: 'failed', reason: 'b: Oh' })
  })

  test('and passes is an error', () => {
    expect(judge(run, [check('SUCCESS')], [oneCheck]).outcome).toBe('failed')
  })

  test('may be missing, when the scenario ended before it', () => {
    expect(judge(run, [check('SUCCESS', 'b')], [oneCheck]).outcome).toBe('passed')
  })
})

test('a name in the list that was not run is reported', () => {
  expect(unusedOf([wholly], [run])).toEqual([])
  expect(unusedOf([wholly], [{ ...run, scenario: 'pong' }])).toEqual(['ping'])
})

test('an unknown scenario is run against every target', () => {
  expect(applies('brand-new', 'server over stdio')).toBe(true)
  expect(applies('tools-call-image', 'server over HTTP')).toBe(false)
  expect(applies('http-header-validation', 'fixture over stdio')).toBe(false)
  expect(concerns('sep-1-http-status', 'server over stdio')).toBe(false)
})
