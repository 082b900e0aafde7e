import * as z from 'zod'

/** One thing that a call needs, and how it is. */
export const Check = z.object({
  check: z.string().describe('What was looked at.'),
  ok: z.boolean().describe('True: it keeps no call from being placed.'),
  found: z.string().describe('What there is, or what is wrong.'),
  fix: z.string().optional().describe('What to do about it.'),
})
export type Check = z.output<typeof Check>

export const ok = (check: string, found: string): Check => ({ check, ok: true, found })

/** The call would be placed, but perhaps not as it was meant. */
export const doubtful = (check: string, found: string, fix: string): Check => ({
  ...ok(check, found),
  fix,
})

export const wrong = (check: string, found: string, fix: string): Check => ({
  check,
  ok: false,
  found,
  fix,
})
