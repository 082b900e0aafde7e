import { Ajv } from 'ajv'
import * as z from 'zod'
import { mcpNamePattern, type PackageInfo, versionPattern } from './package-info.ts'
import { installOptions } from './plugins.ts'

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
export function serverJson(info: PackageInfo, bundle: ReleasedBundle | undefined): ServerJson {
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

const exactVersion = z.string().regex(versionPattern)
const stdio = z.strictObject({ type: z.literal('stdio') })

/**
 * The registry's rules for our entry, as far as they can be checked offline: its schema, and
 * further refusals (a range of versions, a bundle without a hash, a download from another host).
 */
export const ServerJson = z.strictObject({
  $schema: z.literal(serverJsonSchemaUrl),
  name: z.string().min(3).max(200).regex(mcpNamePattern),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: exactVersion,
  repository: z.strictObject({ url: z.url(), source: z.enum(['github', 'gitlab']) }).optional(),
  packages: z.array(
    z.discriminatedUnion('registryType', [
      z.strictObject({
        registryType: z.literal('npm'),
        identifier: z.string(),
        version: exactVersion,
        runtimeHint: z.literal('npx'),
        transport: stdio,
        environmentVariables: z.array(
          z.strictObject({
            name: z.string().regex(/^[A-Z_]+$/),
            description: z.string(),
            format: z.enum(['string', 'number', 'boolean', 'filepath']),
            isRequired: z.boolean(),
            isSecret: z.boolean().optional(),
          }),
        ),
      }),
      z.strictObject({
        registryType: z.literal('mcpb'),
        identifier: z.string().regex(/^https:\/\/(?:github|gitlab)\.com\/\S+mcp\S*$/),
        version: exactVersion,
        fileSha256: z.string().regex(/^[a-f0-9]{64}$/),
        transport: stdio,
      }),
    ]),
  ),
})
export type ServerJson = z.output<typeof ServerJson>

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
