import { expect, test } from 'vitest'
import { secretFree } from '../../../src/cli/doctor/report.ts'

const database = 'postgres://me:p%40ss-word@db.example/calls'
const free = (text: string) =>
  secretFree({
    secrets: ['sk-live-4711-key', database, 'first-secret-of-them,second-secret-of-them'],
    env: { HTTPS_PROXY: 'http://me:sesame@proxy.example:8080' },
  })({
    name: 'state',
    title: 'State',
    light: 'red',
    text,
    details: [text],
    todo: text,
    ms: 1,
  })

test.each([
  ['the key', 'The platform says: sk-live-4711-key is unknown.', 'sk-live-4711-key'],
  ['a secret of several', 'second-secret-of-them is too short.', 'second-secret-of-them'],
  ['an address with its password', `Cannot reach ${database}.`, 'p%40ss-word'],
  ['a password as it is meant', 'postgres://me:p@ss-word@db.example', 'p@ss-word'],
  ['the password of the proxy', 'http://me:sesame@proxy.example refuses', 'sesame'],
])('%s is removed from everything that is said', (_, text, secret) => {
  const result = free(text)
  for (const said of [result.text, ...(result.details ?? []), result.todo ?? '']) {
    expect(said).not.toContain(secret)
  }
})

test('other words stay', () => {
  const text = 'The sesame seeds are in the database of db.example.'
  expect(free(text)).toMatchObject({ text, details: [text], todo: text })
})
