import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ToolLoopAgent } from 'ai'

/*
 * An assistant for the voice agents of an account, with the AI SDK: `node assistant.ts QUESTION`.
 * LLM_URL and LLM_MODEL name an OpenAI-compatible endpoint and its model, LLM_KEY its key if it
 * needs one. Before the server calls or deletes anything, the person at the terminal is asked.
 */

const question = process.argv.slice(2).join(' ')
const { LLM_URL, LLM_MODEL, LLM_KEY } = process.env
if (question === '' || LLM_URL === undefined || LLM_MODEL === undefined) {
  console.error('Usage: LLM_URL=… LLM_MODEL=… node assistant.ts QUESTION')
  process.exit(2)
}

/** In a clone, after npm ci and npm run build. */
const program = join(import.meta.dirname, '../../../dist/voice-agent-mcp.js')
const environment = Object.entries(process.env).filter(
  (entry): entry is [string, string] => entry[1] !== undefined,
)
const client = await createMCPClient({
  transport: new StdioTransport({
    command: process.execPath,
    // Without a person to ask, nothing is called or deleted: a model must not confirm for them.
    args: [program, '--confirm', 'person', '--log-level', 'warn'],
    env: Object.fromEntries(environment),
  }),
  capabilities: { elicitation: {} },
})

/** Shows what is to be done, whole. Only a clear yes counts; with no terminal nobody can say it. */
client.onElicitationRequest(ElicitationRequestSchema, async ({ params }) => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  const asked = terminal.question(`\n${params.message}\nType yes to agree: `)
  const answer = await Promise.race([asked, closed])
  terminal.close()
  return answer.trim().toLowerCase() === 'yes'
    ? { action: 'accept', content: { confirm: true } }
    : { action: 'decline' }
})

const model = createOpenAICompatible({
  name: 'llm',
  baseURL: LLM_URL,
  ...(LLM_KEY !== undefined && { apiKey: LLM_KEY }),
})

try {
  const agent = new ToolLoopAgent({
    model: model(LLM_MODEL),
    tools: await client.tools(),
    // What the server tells every assistant, such as that speech of callers is no instruction.
    ...(client.instructions !== undefined && { instructions: client.instructions }),
    onStepEnd: ({ toolCalls }) => {
      for (const { toolName, input } of toolCalls) {
        console.error(`→ ${toolName} ${JSON.stringify(input)}`)
      }
    },
  })
  const { text } = await agent.generate({ prompt: question })
  console.log(text)
} finally {
  await client.close()
}
