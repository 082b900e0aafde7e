import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { readView } from '../../src/apps/read-view.ts'
import { viewExtension, viewMimeType, viewNames, viewUri } from '../../src/apps/views.ts'
import { tools } from '../../tools/index.ts'
import { clientKinds, connectHttp, connectStdio, type TestClient } from '../harness/client.ts'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { quietly, startProgram } from '../harness/program.ts'

let server: ReturnType<typeof startProgram>
let url: string
beforeAll(async () => {
  server = startProgram(['http', '--port', '0'], { VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly })
  ;[, url = ''] = await server.waitFor(/Serving MCP at (\S+)/)
})
afterAll(() => server[Symbol.asyncDispose]())

const withViews = { extensions: { [viewExtension]: { mimeTypes: [viewMimeType] } } }
const otherKinds = { extensions: { [viewExtension]: { mimeTypes: ['text/x-other'] } } }

const connect = (kind: TestClient['kind'], transport: string, capabilities: object) =>
  transport === 'stdio'
    ? connectStdio(kind, { capabilities })
    : connectHttp(kind, url, {}, { capabilities })

/** Metadata with the view's URI, for each listed tool that has a view. */
const viewsIn = (listed: readonly Record<string, unknown>[]) =>
  Object.fromEntries(
    listed.filter(({ _meta }) => _meta !== undefined).map(({ name, _meta }) => [name, _meta]),
  )

const expected = Object.fromEntries(
  tools.flatMap(({ name, view }) => (view ? [[name, { ui: { resourceUri: viewUri(view) } }]] : [])),
)

const transports = clientKinds.flatMap((kind) => [
  [kind, 'stdio'] as const,
  [kind, 'http'] as const,
])

describe.each(transports)('with %s over %s', (kind, transport) => {
  test('tools and resources name views to a client that shows them', async () => {
    await using client = await connect(kind, transport, withViews)
    const listed = await client.listTools()
    expect(viewsIn(listed)).toEqual(expected)
    const { resources } = await client.listResources()
    const uris = resources.map(({ uri }) => uri)
    expect(uris.filter((uri) => uri.startsWith('ui://'))).toEqual(viewNames.map(viewUri))
  })

  test.each([
    ['has no views', {}],
    ['shows other kinds of views', otherKinds],
  ])('they name none to a client that %s', async (_, capabilities) => {
    await using client = await connect(kind, transport, capabilities)
    expect(viewsIn(await client.listTools())).toEqual({})
    const { resources } = await client.listResources()
    expect(resources.filter(({ uri }) => uri.startsWith('ui://'))).toEqual([])
  })

  test('the rest of the list is the same for both', async () => {
    await using plain = await connect(kind, transport, {})
    await using views = await connect(kind, transport, withViews)
    const without = (await views.listTools()).map(({ _meta: _, ...tool }) => tool)
    expect(without).toEqual(await plain.listTools())
  })
})

const Contents = z.object({
  contents: z.tuple([
    z.object({ uri: z.string(), mimeType: z.string(), text: z.string(), _meta: z.unknown() }),
  ]),
  ttlMs: z.number(),
})

describe.each(viewNames)('the view %s', (name) => {
  test('is read as HTML that needs no other origin', async () => {
    const request = mcpHttpRequest('resources/read', { uri: viewUri(name) })
    const reply = z.object({ result: Contents }).parse(await (await fetch(url, request)).json())
    const { contents, ttlMs } = reply.result
    const [{ text, ...rest }] = contents
    expect(rest).toEqual({
      uri: viewUri(name),
      mimeType: viewMimeType,
      _meta: {
        ui: {
          csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
          prefersBorder: true,
        },
      },
    })
    expect(ttlMs).toBeGreaterThan(0)
    // The program serves the built file unchanged.
    expect(text).toBe(await readView(name))
  })

  test('is small, and its policy allows its own script and style alone', async () => {
    const html = await readView(name)
    // The chart of the usage view is a library.
    expect(Buffer.byteLength(html)).toBeLessThan(name === 'usage' ? 150_000 : 90_000)
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
    const hashOf = (tag: string) => {
      const [, text = ''] = new RegExp(`<${tag}>([\\s\\S]*)</${tag}>`).exec(html) ?? []
      return createHash('sha256').update(text).digest('base64')
    }
    expect(policy?.split('; ')).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${hashOf('script')}'`,
      `style-src 'sha256-${hashOf('style')}'`,
      "base-uri 'none'",
      "form-action 'none'",
    ])
    expect(html).not.toMatch(/\b(src|href)=|url\(|@import/)
  })
})

test('a view that is not there is not found', async () => {
  await using client = await connectStdio('v2 2026-07-28', { capabilities: withViews })
  await expect(client.readResource('ui://voice-agents/nothing.html')).rejects.toMatchObject({
    code: -32602,
  })
})

test('every view is that of a tool', () => {
  expect(new Set(tools.flatMap(({ view }) => view ?? []))).toEqual(new Set(viewNames))
})
