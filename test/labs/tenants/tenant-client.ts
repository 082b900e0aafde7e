import { Client as ClientV2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type ClientKind, ToolResult } from '../../harness/client.ts'
import type { Tenant } from './tenant.ts'

/** Where a client finds the server: at an address, or as a process of its own. */
export type ServerPlace =
  | { readonly url: string }
  | { readonly command: readonly string[]; readonly env: Record<string, string> }

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
}

/** A client of one user, with the same methods for every kind. */
export interface TenantClient {
  readonly kind: ClientKind
  /** Absent over stdio. */
  readonly url: string | undefined
  /** The process id of the server that was started for this client. */
  readonly pid: number | undefined
  call(name: string, args: Record<string, unknown>, options?: RequestOptions): Promise<ToolResult>
  listTools(): Promise<unknown>
  listResources(): Promise<unknown>
  readResource(uri: string): Promise<unknown>
  /** Calls `heard` with each resource that has changed; `undefined`: the kind cannot listen. */
  listen(uri: string, heard: (uri: string) => void): Promise<(() => Promise<void>) | undefined>
  close(): Promise<void>
}

/** The longest that an answer may take, ms: placing a call takes 54 s at most. */
export const answerWithinMs = 75_000

const within = { timeout: answerWithinMs }
const info = { name: 'tenant', version: '1' }

/** Connects a client as a user. */
export async function connectTenant(
  kind: ClientKind,
  tenant: Tenant,
  place: ServerPlace,
): Promise<TenantClient> {
  return kind === 'v1' ? connectV1(tenant, place) : connectV2(kind, tenant, place)
}

const processOf = (place: Exclude<ServerPlace, { url: string }>, { key }: Tenant) => {
  const [command = '', ...args] = place.command
  const env = { ...place.env, VOICE_AGENT_API_KEY: key }
  return { command, args, env, stderr: 'ignore' as const }
}

async function connectV1(tenant: Tenant, place: ServerPlace): Promise<TenantClient> {
  const client = new ClientV1(info)
  const requestInit = { headers: { 'X-API-Key': tenant.key } }
  const transport =
    'url' in place
      ? new HttpV1(new URL(place.url), { requestInit })
      : new StdioV1(processOf(place, tenant))
  // The types of SDK version 1 do not compile with exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<ClientV1['connect']>[0])
  return {
    kind: 'v1',
    url: 'url' in place ? place.url : undefined,
    pid: 'pid' in transport ? (transport.pid ?? undefined) : undefined,
    call: async (name, args, { signal } = {}) => {
      const options = { ...within, ...(signal && { signal }) }
      return ToolResult.parse(await client.callTool({ name, arguments: args }, undefined, options))
    },
    listTools: () => client.listTools({}, within),
    listResources: () => client.listResources({}, within),
    readResource: (uri) => client.readResource({ uri }, within),
    listen: async () => undefined,
    close: () => client.close(),
  }
}

async function connectV2(
  kind: Exclude<ClientKind, 'v1'>,
  tenant: Tenant,
  place: ServerPlace,
): Promise<TenantClient> {
  const mode = kind === 'v2 2025' ? 'legacy' : { pin: '2026-07-28' }
  const client = new ClientV2(info, { versionNegotiation: { mode } })
  const requestInit = { headers: { 'X-API-Key': tenant.key } }
  const transport =
    'url' in place
      ? new StreamableHTTPClientTransport(new URL(place.url), { requestInit })
      : new StdioClientTransport(processOf(place, tenant))
  await client.connect(transport)
  const call = async (
    name: string,
    args: Record<string, unknown>,
    options: RequestOptions = {},
  ) => {
    const { signal } = options
    const result = client.callTool(
      { name, arguments: args },
      { ...within, ...(signal && { signal }) },
    )
    return ToolResult.parse(await result)
  }
  return {
    kind,
    url: 'url' in place ? place.url : undefined,
    pid: 'pid' in transport ? (transport.pid ?? undefined) : undefined,
    call,
    listTools: () => client.listTools({}, within),
    listResources: () => client.listResources({}, within),
    readResource: (uri) => client.readResource({ uri }, within),
    async listen(uri, heard) {
      if (kind === 'v2 2025') return undefined
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        heard(params.uri)
      })
      const subscription = await client.listen({ resourceSubscriptions: [uri] })
      return () => subscription.close()
    },
    close: () => client.close(),
  }
}
