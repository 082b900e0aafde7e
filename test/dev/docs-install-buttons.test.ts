import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { bin, cleanEnv, type Program, quietly, startPlatformProgram } from '../harness/program.ts'

/*
 * The install buttons of docs/install.md: parses each link as the editor does, and starts its
 * server with the built program in place of the published package.
 */

const document = readFileSync(join(import.meta.dirname, '../../docs/install.md'), 'utf8')

const Entry = z.strictObject({
  type: z.literal('stdio').optional(),
  command: z.literal('npx'),
  args: z.tuple([z.literal('-y'), z.literal(`${packageJson.name}@${packageJson.version}`)]),
  env: z.record(z.string(), z.string()).default({}),
})
type Entry = z.output<typeof Entry>
const Inputs = z.array(
  z.strictObject({
    type: z.literal('promptString'),
    id: z.string(),
    description: z.string().min(1),
    password: z.boolean().default(false),
  }),
)

/** Parts of the link behind a button. */
function parametersOf(title: string): { host: string; path: string; query: URLSearchParams } {
  const link = document.split(`[![Install in ${title}](`)[1]?.match(/\]\((\S+)\)/)?.[1] ?? ''
  const { host, pathname, search } = new URL(link)
  expect(search).not.toContain('+')
  return { host, path: pathname, query: new URLSearchParams(search) }
}

let platform: Program & { url: string }
beforeAll(async () => {
  platform = await startPlatformProgram()
})
afterAll(() => platform?.[Symbol.asyncDispose]())

/** Name of the account that a server from this entry uses. `answers`: the user's inputs. */
async function accountOf(entry: Entry, answers: Record<string, string> = {}): Promise<unknown> {
  const filled = Object.entries(entry.env).map(([name, value]) => [
    name,
    value.replace(/^\$\{input:(.*)\}$/, (_, id: string) => answers[id] ?? 'not asked for'),
  ])
  const env = cleanEnv({
    ...quietly,
    VOICE_AGENT_SANDBOX_DB: ':memory:',
    ...Object.fromEntries(filled),
  })
  const client = new Client({ name: 'editor', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [bin], env, stderr: 'ignore' }),
  )
  try {
    const { structuredContent } = await client.callTool({ name: 'get_current_account' })
    return z.looseObject({ name: z.string() }).parse(structuredContent).name
  } finally {
    await client.close()
  }
}

test.each([
  ['VS Code', null],
  ['VS Code Insiders', 'insiders'],
])(
  'the button of %s asks for URL and key, and uses the sandbox without them',
  async (title, quality) => {
    const { host, path, query } = parametersOf(title)
    expect([host, path]).toEqual(['insiders.vscode.dev', '/redirect/mcp/install'])
    expect([...query.keys()].slice(0, 3)).toEqual(['name', 'inputs', 'config'])
    expect([query.get('name'), query.get('quality')]).toEqual(['voice-agents', quality])
    const entry = Entry.parse(JSON.parse(query.get('config') ?? ''))
    const inputs = Inputs.parse(JSON.parse(query.get('inputs') ?? ''))
    const [address, key, ...more] = inputs
    expect(more).toEqual([])
    expect([address?.password, key?.password]).toEqual([false, true])
    expect(entry.env).toEqual({
      VOICE_AGENT_BASE_URL: `\${input:${address?.id}}`,
      VOICE_AGENT_API_KEY: `\${input:${key?.id}}`,
    })
    const answers = (url: string, text: string) => ({
      [address?.id ?? '']: url,
      [key?.id ?? '']: text,
    })
    expect(await accountOf(entry, answers('', ''))).toBe('Sandbox account')
    expect(await accountOf(entry, answers(platform.url, 'sandbox-subaccount-key'))).not.toBe(
      'Sandbox account',
    )
  },
)

test('the button of Cursor adds a server that runs on the sandbox', async () => {
  const { host, path, query } = parametersOf('Cursor')
  expect([host, path]).toEqual(['cursor.com', '/en/install-mcp'])
  expect([...query.keys()]).toEqual(['name', 'config'])
  expect(query.get('name')).toBe('voice-agents')
  const config = Buffer.from(query.get('config') ?? '', 'base64').toString('utf8')
  const entry = Entry.parse(JSON.parse(config))
  expect(entry.env).toEqual({})
  expect(await accountOf(entry)).toBe('Sandbox account')
})
