import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import * as z from 'zod'

/*
 * Checks the greetings of all agents of an account and its subaccounts:
 * `node check-greetings.ts [VARIABLE…]`, with the variables that your calls bring themselves.
 * Exit code 0: all are right; 1: some are not; 2: not all could be checked.
 */

const ownVariables = process.argv.slice(2)
if (process.env.CI && !process.env.VOICE_AGENT_BASE_URL) {
  console.error('VOICE_AGENT_BASE_URL is not set, so this would check the sandbox.')
  process.exit(2)
}

const Account = z.looseObject({ id: z.string(), name: z.string().nullish() })
const Agents = z.looseObject({
  next_offset: z.int().nullable(),
  /** Account of all agents of a page; where it differs, each agent has its own. */
  account: Account.optional(),
  items: z.array(
    z.looseObject({
      id: z.string(),
      name: z.string().nullish(),
      initial_message: z.looseObject({ message: z.string().nullish() }).nullish(),
      account: Account.optional(),
    }),
  ),
  failed_accounts: z.array(z.looseObject({ reason: z.string() })).default([]),
})
type Agent = z.output<typeof Agents>['items'][number]
const Finding = z.looseObject({ line: z.int().nullish(), message: z.string() })
const Check = z.looseObject({
  errors: z.array(Finding),
  warnings: z.array(Finding),
  also_found: z.array(Finding).default([]),
})

/** In a clone, after npm ci and npm run build. */
const program = join(import.meta.dirname, '../../../dist/voice-agent-mcp.js')
const client = new Client({ name: 'check-greetings', version: '1.0.0' })

/** Calls a tool and gives its result; throws what the server says about a failure. */
async function use<T extends z.ZodType>(schema: T, name: string, args: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: args })
  if (result.isError)
    throw new Error(
      result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n'),
    )
  return schema.parse(result.structuredContent)
}

/** All agents, page by page. */
async function* allAgents(): AsyncGenerator<Agent> {
  for (let offset: number | null = 0; offset !== null; ) {
    const page: z.output<typeof Agents> = await use(Agents, 'list_agents', {
      include_subaccounts: true,
      fields: ['initial_message'],
      limit: 100,
      offset,
    })
    for (const { reason } of page.failed_accounts)
      throw new Error(`An account is missing: ${reason}`)
    yield* page.items.map((agent) => ({ account: page.account, ...agent }))
    offset = page.next_offset
  }
}

/** Names and messages can hold anything: none can begin a line, or a command of GitHub Actions. */
const oneLine = (text: string) => JSON.stringify(text).slice(1, -1)

function report({ id, name, account }: Agent, { line, message }: z.output<typeof Finding>): void {
  const who = `${oneLine(name ?? id)} (${oneLine(account?.name ?? account?.id ?? 'own account')})`
  const text = `${who}: ${line ? `line ${line}: ` : ''}${oneLine(message)}`
  // GitHub Actions shows such a line as an error of the run; % is its escape character.
  console.log(process.env.GITHUB_ACTIONS ? `::error::${text.replaceAll('%', '%25')}` : text)
}

async function checkAll(): Promise<number> {
  let checked = 0
  let wrong = 0
  for await (const agent of allAgents()) {
    const check = await use(Check, 'validate_agent_template', {
      template: agent.initial_message?.message ?? '',
      allowed_variables: ownVariables,
      account_id: agent.account?.id,
    })
    const findings = [...check.errors, ...check.warnings, ...check.also_found]
    for (const finding of findings) report(agent, finding)
    checked += 1
    if (findings.length > 0) wrong += 1
  }
  console.log(`${checked} greetings checked, ${wrong} to correct`)
  return wrong === 0 ? 0 : 1
}

try {
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      // The job has a key that could do more; with this server it can only read.
      args: [program, '--read-only', '--log-level', 'warn'],
      env: z.record(z.string(), z.string()).parse({ ...process.env }),
    }),
  )
  process.exitCode = await checkAll()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
} finally {
  await client.close()
}
