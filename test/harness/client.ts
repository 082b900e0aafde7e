import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import { bin, cleanEnv, quietly } from './program.ts'

/**
 * Kinds of clients: SDK version 2 with MCP revision 2026-07-28 or 2025-11-25, and SDK version 1.
 */
export const clientKinds = ['v2 2026-07-28', 'v2 2025', 'v1'] as const
export type ClientKind = (typeof clientKinds)[number]

export const ToolResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string(), text: z.string() })),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
})
export type ToolResult = z.output<typeof ToolResult>

const ErrorData = z.looseObject({
  kind: z.string(),
  fields: z.array(z.looseObject({ argument: z.string(), message: z.string() })),
  next: z.string(),
  retryable: z.boolean(),
})

/** The error data in a failed result's `_meta`. */
export const errorOf = ({ _meta }: Pick<ToolResult, '_meta'>) =>
  ErrorData.parse(_meta?.['voice-agent-mcp/error'])

/** A connected client, with the same methods for every kind. */
export interface TestClient extends AsyncDisposable {
  readonly kind: ClientKind
  /** Address of the server; absent over stdio. */
  readonly url: string | undefined
  /** Id of the process that was started for this client; absent over HTTP. */
  readonly pid: number | undefined
  readonly instructions: string | undefined
  readonly serverName: string | undefined
  listTools(): Promise<Record<string, unknown>[]>
  call(
    name: string,
    args?: Record<string, unknown>,
    options?: { signal?: AbortSignal; onProgress?: (message: string) => void },
  ): Promise<ToolResult>
  /** Calls a tool and returns its structured content. Throws if the tool fails. */
  value(name: string, args?: Record<string, unknown>): Promise<Record<string, unknown>>
  listResources(
    cursor?: string,
  ): Promise<{ resources: { uri: string }[]; nextCursor?: string | undefined }>
  listResourceTemplates(): Promise<{ uriTemplate: string }[]>
  /** The text of a resource. */
  readText(uri: string): Promise<string>
  /** The value of a resource in JSON. */
  readResource(uri: string): Promise<unknown>
  /**
   * Calls `heard` with the URI of each changed resource. Returns the function that unsubscribes.
   * Only for 2026-07-28.
   */
  listen(uri: string, heard: (uri: string) => void): Promise<() => Promise<void>>
}

const info = { name: 'test', version: '1' }

/** Request timeout, ms. Placing a call takes up to 54 s. */
const within = { timeout: 75_000 }

type Capabilities = NonNullable<ConstructorParameters<typeof ClientV2>[1]>['capabilities']

/** A person's answer to an elicitation. */
export type Answer =
  | { action: 'accept'; content?: Record<string, string | boolean> }
  | { action: 'decline' | 'cancel' }

interface ClientOptions {
  readonly capabilities?: Capabilities
  /** Answers elicitations. Absent: the client does not declare the capability. */
  readonly onAsked?: (question: string) => Promise<Answer>
}

function makeClient(kind: ClientKind, { capabilities = {}, onAsked }: ClientOptions) {
  const own = { ...capabilities, ...(onAsked && { elicitation: {} }) }
  const answer = async ({ params }: { params: { message: string } }) =>
    onAsked?.(params.message) ?? { action: 'cancel' as const }
  if (kind === 'v1') {
    const client = new ClientV1(info, { capabilities: own as object })
    if (onAsked) client.setRequestHandler(ElicitRequestSchema, answer)
    return client
  }
  const mode = kind === 'v2 2025' ? 'legacy' : { pin: '2026-07-28' }
  const client = new ClientV2(info, { capabilities: own, versionNegotiation: { mode } })
  if (onAsked) client.setRequestHandler('elicitation/create', answer)
  return client
}

/** Starts the program for this client alone, and connects over stdio. */
export async function connectStdio(
  kind: ClientKind,
  {
    args = [],
    env = {},
    nodeOptions = [],
    ...options
  }: ClientOptions & {
    args?: string[]
    env?: Record<string, string>
    nodeOptions?: readonly string[]
  } = {},
): Promise<TestClient> {
  const parameters = {
    command: process.execPath,
    args: [...nodeOptions, bin, ...args],
    env: cleanEnv({ VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly, ...env }),
    stderr: 'ignore' as const,
  }
  const client = makeClient(kind, options)
  if (client instanceof ClientV1) {
    const transport = new StdioV1(parameters)
    await client.connect(transport)
    return wrap(kind, client, { pid: transport.pid })
  }
  const transport = new StdioV2(parameters)
  await client.connect(transport)
  return wrap(kind, client, { pid: transport.pid })
}

/** Connects over HTTP to a running program. */
export async function connectHttp(
  kind: ClientKind,
  url: string,
  headers: Record<string, string> = {},
  options: ClientOptions = {},
): Promise<TestClient> {
  const client = makeClient(kind, options)
  const transport = { requestInit: { headers } }
  if (client instanceof ClientV1) {
    // The types of SDK version 1 do not compile with exactOptionalPropertyTypes.
    await client.connect(new HttpV1(new URL(url), transport) as Parameters<ClientV1['connect']>[0])
  } else await client.connect(new HttpV2(new URL(url), transport))
  return wrap(kind, client, { url })
}

function wrap(
  kind: ClientKind,
  client: ClientV1 | ClientV2,
  { url, pid }: { url?: string; pid?: number | null },
): TestClient {
  const call: TestClient['call'] = async (name, args = {}, { signal, onProgress } = {}) => {
    const call = { name, arguments: args }
    const onprogress = ({ message }: { message?: string | undefined }) =>
      onProgress?.(String(message))
    const limits = { ...within, ...(signal && { signal }), ...(onProgress && { onprogress }) }
    const isV1 = client instanceof ClientV1
    return ToolResult.parse(
      await (isV1 ? client.callTool(call, undefined, limits) : client.callTool(call, limits)),
    )
  }
  const readText = async (uri: string) => {
    const { contents } = await client.readResource({ uri }, within)
    return z.looseObject({ text: z.string() }).parse(contents[0]).text
  }
  return {
    kind,
    url,
    pid: pid ?? undefined,
    instructions: client.getInstructions(),
    serverName: client.getServerVersion()?.name,
    listTools: async () => (await client.listTools({}, within)).tools,
    call,
    async value(name, args) {
      const result = await call(name, args)
      if (result.isError) throw new Error(result.content[0]?.text)
      return z.record(z.string(), z.unknown()).parse(result.structuredContent)
    },
    listResources: (cursor) => client.listResources(cursor === undefined ? {} : { cursor }, within),
    listResourceTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    readText,
    readResource: async (uri) => JSON.parse(await readText(uri)),
    async listen(uri, heard) {
      if (client instanceof ClientV1) throw new Error('It cannot listen')
      client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
        heard(params.uri),
      )
      const subscription = await client.listen({ resourceSubscriptions: [uri] })
      return () => subscription.close()
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
