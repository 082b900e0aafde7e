import { describe, expect, test } from 'vitest'
import { answerIn } from '../../../src/oauth/forms.ts'

const read = (form: string) => answerIn(new URLSearchParams(form))

describe('a form that was sent', () => {
  test('the key form, without spaces around the key', () => {
    expect(read('step=key&form_token=t&answer=continue&key=+k1%0A')).toEqual({
      step: 'key',
      form_token: 't',
      answer: 'continue',
      key: 'k1',
    })
  })

  test('the sandbox form has no key', () => {
    expect(read('step=key&form_token=t&answer=sandbox')).toMatchObject({ key: '' })
  })

  test('the consent form, with what was ticked', () => {
    expect(read('step=consent&form_token=t&answer=allow&scope=read&scope=call')).toMatchObject({
      answer: 'allow',
      scopes: ['read', 'call'],
    })
    expect(read('step=consent&form_token=t&answer=cancel')).toMatchObject({ scopes: [] })
  })

  test.each([
    '',
    'step=key&answer=continue',
    'step=key&form_token=t&answer=allow',
    'step=consent&form_token=t&answer=allow&scope=admin',
    'step=other&form_token=t&answer=allow',
  ])('a form that is not ours: %j', (form) => {
    expect(read(form)).toBeUndefined()
  })
})
