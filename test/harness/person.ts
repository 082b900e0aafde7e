import { Client as ClientV2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { type ClientKind, ToolResult } from './client.ts'
import { outputFlaws } from './output-flaws.ts'
import { bin, cleanEnv, quietly } from './program.ts'

/** What the person behind a client does with a question. */
export type Answer =
  | { action: 'accept'; content?: Record<string, string | boolean> }
  | { action: 'decline' | 'cancel' }
export const yes: Answer = { action: 'accept', content: { confirm: true } }

interface Connecting {
  /** Address of a running program; without it one is started for this client alone. */
  readonly url?: string
  /** Settings of that program. */
  readonly env?: Record<string, string>
  readonly headers?: Record<string, string>
  /** Without one the client cannot ask. */
  readonly answer?: Answer
}

interface Waiting {
  readonly signal?: AbortSignal
  readonly onProgress?: (message: string) => void
}

/** A client of any kind, with a person whose answers the test gives. */
export async function connectPerson(kind: ClientKind, { answer, ...to }: Connecting) {
  const asked: string[] = []
  let current: Answer | Promise<Answer> | undefined = answer
  const answered = async ({ params }: { params: { message: string } }) => {
    asked.push(params.message)
    return current ?? { action: 'cancel' as const }
  }
  const capabilities = answer ? { elicitation: {} } : {}
  const client = kind === 'v1' ? clientV1(capabilities) : clientV2(kind, capabilities)
  if (answer && client instanceof ClientV1) client.setRequestHandler(ElicitRequestSchema, answered)
  if (answer && client instanceof ClientV2) client.setRequestHandler('elicitation/create', answered)
  if (client instanceof ClientV1) await client.connect(transportV1(to))
  else await client.connect(transportV2(to))
  let isListed = false
  const call = async (name: string, args: object = {}, { signal, onProgress }: Waiting = {}) => {
    // A client that knows the tools checks each result against the output schema.
    if (!isListed) await client.listTools()
    isListed = true
    const options = {
      ...(signal && { signal }),
      ...(onProgress && {
        onprogress: ({ message }: { message?: string | undefined }) => onProgress(String(message)),
      }),
    }
    const request = { name, arguments: { ...args } }
    return ToolResult.parse(
      client instanceof ClientV1
        ? await client.callTool(request, undefined, options)
        : await client.callTool(request, options),
    )
  }
  return {
    /** What the person was asked so far. */
    asked,
    call,
    answers: (next: Answer | Promise<Answer>) => {
      current = next
    },
    text: async (name: string, args: object = {}) =>
      (await call(name, args)).content[0]?.text ?? '',
    /** The server's information and its tools. */
    offered: async () => ({
      tools: (await client.listTools()).tools,
      instructions: client.getInstructions(),
    }),
    /** The data of a result, failing the test when the tool failed. */
    async value(name: string, args: object = {}): Promise<Record<string, unknown>> {
      const result = await call(name, args)
      if (result.isError) throw new Error(result.content[0]?.text)
      return result.structuredContent ?? {}
    },
    /** Calls a tool that asks first, and agrees to its preview. */
    async agreed(name: string, args: object = {}): Promise<ToolResult> {
      return call(name, { ...args, confirm_token: tokenOf(await call(name, args)) })
    },
    /** Why a result is not what the tool's output schema promises; nothing when it is. */
    async flaws(name: string, { structuredContent }: ToolResult): Promise<unknown> {
      const { tools } = await client.listTools()
      const listed = Object(tools.find((tool) => tool.name === name)?.outputSchema)
      return outputFlaws(name, structuredContent, listed)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
export type Person = Awaited<ReturnType<typeof connectPerson>>

const info = { name: 'test', version: '1' }

const clientV1 = (capabilities: object) => new ClientV1(info, { capabilities })

const clientV2 = (kind: ClientKind, capabilities: object) =>
  new ClientV2(info, {
    capabilities,
    versionNegotiation: { mode: kind === 'v2 2025' ? 'legacy' : { pin: '2026-07-28' } },
  })

const program = ({ env = {} }: Connecting) => ({
  command: process.execPath,
  args: [bin],
  env: cleanEnv({
    ...quietly,
    VOICE_AGENT_CONFIRM: 'auto',
    VOICE_AGENT_SANDBOX_DB: ':memory:',
    VOICE_AGENT_SANDBOX_SPEED: '50',
    ...env,
  }),
  stderr: 'ignore' as const,
})

function transportV1(to: Connecting) {
  if (to.url === undefined) return new StdioV1(program(to))
  const http = new HttpV1(new URL(to.url), { requestInit: { headers: { ...to.headers } } })
  // The types of SDK version 1 do not compile with exactOptionalPropertyTypes.
  return http as Parameters<ClientV1['connect']>[0]
}

function transportV2(to: Connecting) {
  if (to.url === undefined) return new StdioClientTransport(program(to))
  const requestInit = { headers: { ...to.headers } }
  return new StreamableHTTPClientTransport(new URL(to.url), { requestInit })
}

interface Confirmation {
  readonly state: 'needed' | 'declined' | 'dismissed'
  readonly question: string
  readonly confirm_token?: string
  readonly facts: Readonly<Record<string, string>>
}

/** What a result says is still to be confirmed; `undefined`: nothing. */
export const confirmationOf = ({ structuredContent }: ToolResult) =>
  structuredContent?.confirmation as Confirmation | undefined

/** The token of a preview. */
export const tokenOf = (result: ToolResult): string | undefined =>
  confirmationOf(result)?.confirm_token

/** The facts that a preview shows. */
export const factsOf = (result: ToolResult) => confirmationOf(result)?.facts
