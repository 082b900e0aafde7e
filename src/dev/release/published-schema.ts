import { Ajv } from 'ajv'

/** The schema could not be fetched, so nothing is known. */
export class SchemaUnavailable extends Error {
  override readonly name = 'SchemaUnavailable'
}

/**
 * What a published JSON Schema (draft 7) finds wrong with a value; none: it is valid. Throws
 * SchemaUnavailable where the address gives no schema.
 */
export async function schemaFaults(url: string, value: unknown): Promise<string[]> {
  const schema = await fetched(url)
  // Annotations such as `example` are not part of JSON Schema.
  const ajv = new Ajv({ allErrors: true, strict: false })
  ajv.addFormat('uri', (text: string) => URL.canParse(text))
  const isValid = ajv.compile(schema)
  if (isValid(value)) return []
  return (isValid.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || '/'} ${message ?? 'is not valid'}`,
  )
}

async function fetched(url: string): Promise<object> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) })
    const schema: unknown = response.ok ? await response.json() : undefined
    if (typeof schema === 'object' && schema !== null && '$schema' in schema) return schema
    throw new Error(response.ok ? 'it is not a schema' : `status ${response.status}`)
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message
    throw new SchemaUnavailable(`${url} cannot be read: ${reason}`)
  }
}
