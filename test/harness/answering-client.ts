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
  /** Address of a running program; absent: one is started for this client. */
  readonly url?: string
  /** Settings of the started program. */
  readonly env?: Record<string, string>
  readonly headers?: Record<string, string>
  /** The person's answer to questions; absent: the client does not declare elicitation. */
  readonly answer?: Answer
}

/** Connects a client whose person gives the test's answers to elicitations. */
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
    // An SDK client that has listed the tools checks each result against the output schema.
    if (!isListed) await client.listTools()
    isListed = true
    return client.call(name, { ...args }, options)
  }
  return {
    /** Questions of all elicitations so far. */
    asked,
    call,
    answers: (next: Answer | Promise<Answer>) => {
      current = next
    },
    text: async (name: string, args: object = {}) =>
      (await call(name, args)).content[0]?.text ?? '',
    /** The server's instructions and its tools. */
    offered: async () => ({
      tools: await client.listTools(),
      instructions: client.instructions,
    }),
    /** Calls a tool and returns its structured content. Throws if the tool fails. */
    async value(name: string, args: object = {}): Promise<Record<string, unknown>> {
      const result = await call(name, args)
      if (result.isError) throw new Error(result.content[0]?.text)
      return result.structuredContent ?? {}
    },
    /** Calls a tool that needs confirmation, and confirms with the token of its preview. */
    async agreed(name: string, args: object = {}): Promise<ToolResult> {
      return call(name, { ...args, confirm_token: tokenOf(await call(name, args)) })
    },
    /** Violations of the tool's output schema; `undefined` if there are none. */
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

/** The pending confirmation in a result; `undefined` if there is none. */
export const confirmationOf = ({ structuredContent }: ToolResult) =>
  structuredContent?.confirmation as Confirmation | undefined

/** The confirmation token of a preview. */
export const tokenOf = (result: ToolResult): string | undefined =>
  confirmationOf(result)?.confirm_token

/** The facts that a preview shows. */
export const factsOf = (result: ToolResult) => confirmationOf(result)?.facts
