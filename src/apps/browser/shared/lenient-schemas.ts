import * as z from 'zod/mini'

/*
 * Schemas for what other programs send. zod's `catch` and `refine` do the same, but bring up to 10 kB
 * of zod's other functions into each view.
 */

/** Reads a value that does not fit the schema as `fallback`. */
export const lenientOr = <T, F>(schema: z.ZodMiniType<T>, fallback: F) =>
  z.pipe(
    z.optional(z.unknown()),
    z.transform((value): T | F => {
      const { success, data } = schema.safeParse(value)
      return success ? data : fallback
    }),
  )

/** Reads a value that does not fit the schema as absent. */
export const lenient = <T>(schema: z.ZodMiniType<T>) => z.optional(lenientOr(schema, undefined))

/** A check that refuses values for which `fits` is false. */
export const refuseUnless =
  <T>(fits: (value: T) => boolean): z.core.CheckFn<T> =>
  ({ value, issues }) => {
    if (!fits(value)) issues.push({ code: 'custom', input: value })
  }
