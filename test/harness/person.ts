import {
  type Answer,
  type ClientKind,
  connectHttp,
  connectStdio,
  type TestClient,
  type ToolResult,
} from './client.ts'
import { outputFlaws } from './output-flaws.ts'

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

/** A client of any kind, with a person whose answers the test gives. */
export async function connectPerson(kind: ClientKind, { answer, url, env, headers }: Connecting) {
  const asked: string[] = []
  let current: Answer | Promise<Answer> | undefined = answer
  const onAsked = async (question: string) => {
    asked.push(question)
    return current ?? { action: 'cancel' as const }
  }
  const asking = answer ? { onAsked } : {}
  const client =
    url === undefined
      ? await connectStdio(kind, {
          env: { VOICE_AGENT_CONFIRM: 'auto', VOICE_AGENT_SANDBOX_SPEED: '50', ...env },
          ...asking,
        })
      : await connectHttp(kind, url, headers, asking)
  let isListed = false
  const call = async (
    name: string,
    args: object = {},
    options?: Parameters<TestClient['call']>[2],
  ) => {
    // A client that knows the tools checks each result against the output schema.
    if (!isListed) await client.listTools()
    isListed = true
    return client.call(name, { ...args }, options)
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
      tools: await client.listTools(),
      instructions: client.instructions,
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
      const tools = await client.listTools()
      const listed = Object(tools.find((tool) => tool.name === name)?.outputSchema)
      return outputFlaws(name, structuredContent, listed)
    },
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  }
}
export type Person = Awaited<ReturnType<typeof connectPerson>>

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
