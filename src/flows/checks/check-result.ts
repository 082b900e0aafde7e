import * as z from 'zod'

/** One thing that an agent or a call needs, and its state. */
export const CheckResult = z.object({
  check: z.string().describe('What was looked at.'),
  ok: z.boolean().describe('True: it keeps no call from being placed.'),
  found: z.string().describe('What there is, or what is wrong.'),
  fix: z.string().optional().describe('What to do about it.'),
})
export type CheckResult = z.output<typeof CheckResult>

export const ok = (check: string, found: string): CheckResult => ({ check, ok: true, found })

/** The call would be placed, but perhaps not as intended. */
export const warning = (check: string, found: string, fix: string): CheckResult => ({
  ...ok(check, found),
  fix,
})

/** The call would not be placed. */
export const problem = (check: string, found: string, fix: string): CheckResult => ({
  check,
  ok: false,
  found,
  fix,
})
