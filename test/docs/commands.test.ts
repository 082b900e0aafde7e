import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { tools } from '../../tools/index.ts'
import { freePort, type Program, scratchFolder, startPlatformProgram } from '../harness/program.ts'
import { type Block, blocksOf, documents, root } from './documents.ts'

/*
 * Runs the documents' commands in a clone, as a newcomer would: unchanged, with the machine's
 * Node.js. A sandbox stands in for the platform, and a script that records its arguments for the
 * CLI of an MCP client.
 */

/** Blocks that are not run, with the reason. */
const notRun: Readonly<Record<string, string>> = {
  'npm ci && npm test': 'CI runs this block itself',
  'npm run check': 'CI runs it, and it would run this test',
  'PROPERTY_SEED=any': 'it tries new values each time',
}

const isRun = ({ language, text }: Block) =>
  language === 'sh' && !Object.keys(notRun).some((start) => text.startsWith(start))

// The README comes first, because it installs and builds.
const blocks = ['README.md', ...documents.filter((file) => file !== 'README.md')].flatMap(blocksOf)
const commands = blocks.filter(isRun)

const scratch = scratchFolder()
const clone = join(scratch.path, 'clone')
const claudeArguments = join(scratch.path, 'claude-arguments')
let platform: Program & { url: string }

/** Environment of a newcomer's shell: without settings of the program and variables of npm. */
function newcomer(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      !/^(VOICE_AGENT_|NODE|VITEST|INIT_CWD$|npm_(?!config_)|npm_config_.*prefix)/.test(entry[0]),
  )
  const paths = (process.env.PATH ?? '').split(delimiter)
  return {
    ...Object.fromEntries(inherited),
    PATH: [scratch.path, ...paths.filter((path) => !path.includes('node_modules'))].join(delimiter),
    // The home folder of the user who runs the tests must stay untouched.
    XDG_DATA_HOME: join(scratch.path, 'data'),
    XDG_CACHE_HOME: join(scratch.path, 'cache'),
    npm_config_prefer_offline: 'true',
    CLAUDE_ARGUMENTS: claudeArguments,
    ...extra,
  }
}

/** Replaces the documents' placeholders by the running platform, its key and the clone. */
const forPlatform = (text: string) =>
  text
    .replaceAll('https://api.your-platform.example', platform.url)
    .replaceAll('your-key', 'sandbox-key')
    .replaceAll('/path/to/voice-agent-mcp', clone)

beforeAll(async () => {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  git('clone', '--quiet', '.', clone)
  // Includes uncommitted changes.
  for (const file of git('ls-files', '-z', '-mo', '--exclude-standard').split('\0')) {
    if (file === '') continue
    if (existsSync(join(root, file))) cpSync(join(root, file), join(clone, file))
    else rmSync(join(clone, file))
  }
  writeCommand('claude', 'printf "%s\\n" "$@" > "$CLAUDE_ARGUMENTS"')
  // Stands in for the command of the installed package.
  const program = ['node_modules/node/bin/node', 'dist/voice-agent-mcp.js'].map((file) =>
    JSON.stringify(join(clone, file)),
  )
  writeCommand('voice-agent-mcp', `exec ${program.join(' ')} "$@"`)
  const faults = blocksOf('docs/sandbox.md').find(
    ({ language, text }) => language === 'json' && text.includes('"rules"'),
  )
  writeFileSync(join(clone, 'faults.json'), faults?.text ?? '')
  platform = await startPlatformProgram()
}, 120_000)

afterAll(async () => {
  await platform?.[Symbol.asyncDispose]()
  scratch[Symbol.dispose]()
}, 120_000)

/** Adds a command to the newcomer's PATH. */
function writeCommand(name: string, script: string): void {
  const file = join(scratch.path, name)
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
}

/**
 * Runs a block in the clone. If it starts a server, waits until that is ready, then stops it as
 * Ctrl+C does.
 */
async function run({ text }: Block): Promise<{ status: number | null; output: string }> {
  const env = newcomer({ VOICE_AGENT_PORT: String(await freePort()) })
  // A process group, as a terminal creates, so that its children end with it.
  const shell = spawn('/bin/sh', ['-ec', forPlatform(text)], { cwd: clone, env, detached: true })
  const end = (signal: NodeJS.Signals) => shell.pid && process.kill(-shell.pid, signal)
  let output = ''
  let asked: Promise<unknown> | undefined
  const listen = (chunk: Buffer) => {
    output += chunk
    const [, url] = /Serving (?:MCP|the sandbox API) at (\S+?)\/(?:mcp|v1)/.exec(output) ?? []
    if (url !== undefined) asked ??= fetch(`${url}/health`).finally(() => end('SIGINT'))
  }
  shell.stdout.on('data', listen)
  shell.stderr.on('data', listen)
  const [status] = await once(shell, 'close')
  await asked
  return { status, output }
}

/** Starts a server from this configuration, as a client does, and calls a tool. */
async function useServer({ command, args, env }: z.output<typeof Entry>): Promise<void> {
  const client = new Client({ name: 'newcomer', version: '1' })
  await client.connect(
    new StdioClientTransport({ command, args, env: newcomer(env), cwd: '/', stderr: 'ignore' }),
  )
  try {
    expect((await client.listTools()).tools).toHaveLength(tools.length)
    const { structuredContent } = await client.callTool({ name: 'get_current_account' })
    expect(structuredContent).toMatchObject({ name: 'Sandbox account' })
  } finally {
    await client.close()
  }
}

const Entry = z.object({
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).default({}),
})
const Http = z.strictObject({
  type: z.literal('http'),
  url: z.literal('http://127.0.0.1:3000/mcp'),
  headers: z.record(z.string(), z.string()).optional(),
})
/** A remote server of an operator, not reachable from tests. */
const Remote = z.strictObject({ url: z.literal('https://voice.your-company.example/mcp') })
const Servers = z.object({
  mcpServers: z.strictObject({ 'voice-agents': z.union([Entry, Http, Remote]) }),
})

test('there are commands to run', () => {
  expect(commands.length).toBeGreaterThan(8)
  for (const start of Object.keys(notRun)) {
    expect(blocks.some(({ text }) => text.startsWith(start))).toBe(true)
  }
})

test('commands that are not run here name files that exist', () => {
  const files = blocks
    .filter((block) => ['sh', 'shell'].includes(block.language) && !isRun(block))
    .flatMap(({ text }) => text.match(/\b(?:src|test)\/\S+/g) ?? [])
  expect(files.length).toBeGreaterThan(0)
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
})

describe('in a clone', { timeout: 180_000 }, () => {
  test.each(commands)('$file, line $line: $text', async (block) => {
    const { status, output } = await run(block)
    const isServer = /Serving /.test(output)
    expect(output).not.toMatch(/^\s+at /m)
    // Ctrl+C ends a server's shell by the signal, or with the exit code that npm makes of it.
    expect(isServer ? [0, 130, null] : [0], output).toContain(status)
    expect(isServer).toBe(/npm start(?!.*--help)|npm run sandbox|js http/.test(block.text))
    if (block.text.includes('npm run demo')) expect(output).toContain('place_call')
    if (!block.text.startsWith('claude')) return
    const [mcp, add, ...rest] = readFileSync(claudeArguments, 'utf8').trim().split('\n')
    expect([mcp, add]).toEqual(['mcp', 'add'])
    const at = rest.indexOf('--')
    if (at < 0) expect(rest).toEqual(expect.arrayContaining(['http://127.0.0.1:3000/mcp']))
    else {
      const [command = '', ...args] = rest.slice(at + 1)
      await useServer({ command, args, env: {} })
    }
  })

  const configurations = blocks.filter(({ text }) => text.includes('mcpServers'))
  test.each(configurations)('the configuration in $file, line $line', async ({ text }) => {
    const { mcpServers } = Servers.parse(JSON.parse(forPlatform(text)))
    const entry = mcpServers['voice-agents']
    // The published package cannot be run in tests.
    if ('command' in entry && entry.command !== 'npx') await useServer(entry)
  })

  test('the configuration of Codex', async () => {
    const [toml] = blocks.filter(({ language }) => language === 'toml')
    const lines = forPlatform(toml?.text ?? '').match(/^(command|args) = (.+)$/gm) ?? []
    const entry = Object.fromEntries(lines.map((line) => line.split(' = ')))
    const { command, args } = entry
    await useServer(Entry.parse({ command: JSON.parse(command), args: JSON.parse(args) }))
  })
})
