import * as z from 'zod'
import { scopeNames } from './models.ts'

const formToken = z.string()

/** What the forms of the pages send. */
const PageAnswer = z.discriminatedUnion('step', [
  z.object({
    step: z.literal('key'),
    form_token: formToken,
    answer: z.enum(['continue', 'sandbox', 'cancel']),
    key: z.string().default(''),
  }),
  z.object({
    step: z.literal('consent'),
    form_token: formToken,
    answer: z.enum(['allow', 'other_key', 'cancel']),
    scopes: z.array(z.enum(scopeNames)),
  }),
])
export type PageAnswer = z.output<typeof PageAnswer>

/**
 * A form that was sent, as a person answered it; `undefined` where it is not one of ours. Spaces
 * around a pasted key are left out.
 */
export function readPageAnswer(form: URLSearchParams): PageAnswer | undefined {
  const { data } = PageAnswer.safeParse({
    step: form.get('step'),
    form_token: form.get('form_token'),
    answer: form.get('answer'),
    key: form.get('key')?.trim(),
    scopes: form.getAll('scope'),
  })
  return data
}
