import type { ServerOptions } from '@modelcontextprotocol/server'
import * as z from 'zod'

/**
 * What the SDK checks answers of people with, by the JSON Schemas they were asked with: zod, which
 * is here anyway, instead of its own choice, which is half as large as all the rest of the SDK.
 */
export const jsonSchemaValidator: NonNullable<ServerOptions['jsonSchemaValidator']> = {
  getValidator<T>(schema: object) {
    const type = z.fromJSONSchema({ ...schema })
    return (input: unknown) => {
      const { success, data, error } = type.safeParse(input)
      return success
        ? // The schema is all that says what T is.
          { valid: true, data: data as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: z.prettifyError(error) }
    }
  },
}
