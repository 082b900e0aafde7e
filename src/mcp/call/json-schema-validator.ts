import type { ServerOptions } from '@modelcontextprotocol/server'
import * as z from 'zod'

/**
 * Validates a person's answer to a question against the question's JSON Schema. zod is used already;
 * the SDK's default validator is half as large as the rest of the SDK.
 */
export const jsonSchemaValidator: NonNullable<ServerOptions['jsonSchemaValidator']> = {
  getValidator<T>(schema: object) {
    const type = z.fromJSONSchema({ ...schema })
    return (input: unknown) => {
      const { success, data, error } = type.safeParse(input)
      return success
        ? // Only the schema says what T is.
          { valid: true, data: data as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: z.prettifyError(error) }
    }
  },
}
