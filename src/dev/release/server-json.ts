import { Ajv } from 'ajv'
import { installOptions } from './install-options.ts'
import type { PackageInfo } from './package-info.ts'

/** Schema URL of server.json in the MCP registry. */
export const serverJsonSchemaUrl =
  'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** The released bundle: download URL and hash. */
interface ReleasedBundle {
  readonly url: string
  /** SHA-256, hexadecimal. */
  readonly sha256: string
}

/**
 * This server's entry in the MCP registry. `bundle` is `undefined` if the registry accepts no
 * download from its host. Throws if the package has no name in the registry.
 */
export function serverJson(info: PackageInfo, bundle: ReleasedBundle | undefined) {
  const { name, version, mcpName, repository } = info
  if (mcpName === undefined) throw new Error('package.json has no mcpName')
  const transport = { type: 'stdio' as const }
  return {
    $schema: serverJsonSchemaUrl,
    name: mcpName,
    title: 'Voice agents',
    description:
      'Runs a voice-agent account: agents, numbers, SIP trunks, calls, conversations, usage.',
    version,
    ...(repository?.source && {
      repository: { url: repository.url, source: repository.source },
    }),
    packages: [
      {
        registryType: 'npm',
        identifier: name,
        version,
        runtimeHint: 'npx',
        transport,
        environmentVariables: environmentVariables(),
      },
      ...(bundle
        ? [
            {
              registryType: 'mcpb' as const,
              identifier: bundle.url,
              version,
              fileSha256: bundle.sha256,
              transport,
            },
          ]
        : []),
    ],
  }
}

const formats = { string: 'string', boolean: 'boolean', file: 'filepath' } as const

const environmentVariables = () =>
  Object.values(installOptions).map(({ variable, type, description, sensitive }) => ({
    name: variable,
    description,
    format: formats[type],
    isRequired: false,
    ...(sensitive && { isSecret: true }),
  }))

/** The schema could not be fetched; the result is unknown. */
export class SchemaUnavailable extends Error {
  override readonly name = 'SchemaUnavailable'
}

/**
 * Violations of a published JSON Schema (draft 7); empty if the value is valid. Throws
 * SchemaUnavailable if the URL has no schema.
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
