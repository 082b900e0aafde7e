import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }
import { readPackage, repositoryAt, root } from '../../../src/dev/release/package-info.ts'
import {
  SchemaUnavailable,
  schemaFaults,
  serverJson,
} from '../../../src/dev/release/server-json.ts'

const info = {
  ...readPackage(root),
  mcpName: 'io.github.owner/voice-agent-mcp',
  repository: repositoryAt('https://github.com/owner/repository'),
}
const bundle = {
  url: 'https://github.com/owner/repository/releases/download/v1/voice-agent-mcp.mcpb',
  sha256: 'a'.repeat(64),
}
const entry = serverJson(info, bundle)

test('server.json has the version of package.json for both packages, and asks for the key as a secret', () => {
  const versions = [entry.version, ...entry.packages.map(({ version }) => version)]
  expect(versions).toEqual(Array(3).fill(packageJson.version))
  expect(entry.packages[0]).toMatchObject({
    registryType: 'npm',
    identifier: packageJson.name,
    environmentVariables: expect.arrayContaining([
      expect.objectContaining({ name: 'VOICE_AGENT_API_KEY', isSecret: true, isRequired: false }),
    ]),
  })
})

test('without a place for downloads it has the package of npm only', () => {
  expect(serverJson(info, undefined).packages).toHaveLength(1)
  const elsewhere = repositoryAt('https://code.your-company.example/owner/repository')
  expect(serverJson({ ...info, repository: elsewhere }, undefined)).not.toHaveProperty('repository')
})

test('without a name in the registry there is none', () => {
  expect(() => serverJson({ ...info, mcpName: undefined }, bundle)).toThrow('mcpName')
})

test('the registry takes descriptions of 100 characters at most', () => {
  expect(entry.description.length).toBeLessThanOrEqual(100)
})

/** Serves a reply at a URL while `use` runs. */
async function serving(status: number, text: string, use: (url: string) => Promise<void>) {
  const server = createServer((_, response) => response.writeHead(status).end(text))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/server.schema.json`)
  } finally {
    server.close()
  }
}

/** A schema like the published one: draft 7, with references and unknown annotations. */
const schema = (longest: number) =>
  JSON.stringify({
    $schema: 'http://json-schema.org/draft-07/schema#',
    $ref: '#/definitions/ServerDetail',
    definitions: {
      ServerDetail: {
        type: 'object',
        required: ['name', 'description'],
        properties: {
          $schema: { type: 'string', format: 'uri', example: 'https://a.example' },
          description: { type: 'string', maxLength: longest },
        },
      },
    },
  })

test('the published schema is fetched, and what it finds wrong is said', async () => {
  await serving(200, schema(100), async (url) => {
    expect(await schemaFaults(url, entry)).toEqual([])
    expect(await schemaFaults(url, { ...entry, $schema: 'none' })).toEqual([
      expect.stringContaining('/$schema must match format'),
    ])
  })
  await serving(200, schema(10), async (url) => {
    expect(await schemaFaults(url, entry)).toEqual([
      '/description must NOT have more than 10 characters',
    ])
  })
})

test.each([
  ['an error', 404, '{}'],
  ['a page', 200, '<html></html>'],
  ['something else', 200, '{"title":"none"}'],
])('a schema that cannot be read is no valid entry: %s', async (_, status, text) => {
  await serving(status, text, async (url) => {
    await expect(schemaFaults(url, entry)).rejects.toThrow(SchemaUnavailable)
  })
})
