import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { commands } from '../../src/cli/commands/index.ts'
import { readScript } from '../../src/dev/script-arguments.ts'
import { ToolResult } from '../harness/client.ts'
import { badCalls, everyTool } from '../harness/every-tool.ts'
import { clientMeta, mcpHttpRequest } from '../harness/mcp-request.ts'
import { cleanEnv, scratchFolder, startProcess } from '../harness/program.ts'
import { clockSetTo, startOfRun } from './jobs/clock.ts'

const usage = `Compares what users of two builds see: tools, resources, prompts, pages, log lines, metrics, commands
and help. Calls every tool with valid and invalid arguments, in both protocol revisions and over both
transports.

npm run compare -- REFERENCE [CHECKOUT]
  REFERENCE  folder of a checkout of the earlier version, built with npm ci and npm run build
  CHECKOUT   folder of a built checkout of the later version (default: this checkout)

Prints the differences as git diff does. Exits with 0 if there are none, with 1 if there are some, and
with 2 if it cannot run.
`

/** Observed behaviour of a build, by the name of the observation. */
type Seen = Map<string, unknown>
type Send = (message: { id: number; method: string; params: object }) => Promise<unknown>

const revisions = ['2025-11-25', '2026-07-28'] as const
type Revision = (typeof revisions)[number]

/** Collects what is visible of the build in a checkout. `home`: an empty folder. */
async function look(checkout: string, home: string): Promise<Seen> {
  const bin = join(checkout, 'dist/voice-agent-mcp.js')
  const env = cleanEnv({
    HOME: home,
    COLUMNS: '100',
    TZ: 'UTC',
    VOICE_AGENT_STATE_DIR: ':memory:',
    VOICE_AGENT_SANDBOX_DB: ':memory:',
    VOICE_AGENT_SANDBOX_SEED: 'full',
    VOICE_AGENT_SANDBOX_SPEED: '10000',
    VOICE_AGENT_LOCAL_TOKEN: 'off',
    VOICE_AGENT_LOG: 'json',
    VOICE_AGENT_LOG_LEVEL: 'info',
    // Fixed time, because the sandbox's calls of today depend on it.
    ...clockSetTo(startOfRun),
  })
  const seen: Seen = new Map()
  for (const revision of revisions) {
    for (const confirm of ['never', 'always']) {
      const settings = { ...env, VOICE_AGENT_CONFIRM: confirm }
      await overStdio(bin, settings, revision, see(seen, `stdio ${revision} confirm ${confirm}`))
      await overHttp(bin, settings, revision, see(seen, `http ${revision} confirm ${confirm}`))
    }
  }
  for (const args of commandLines) {
    const ended = await new Promise<object>((done) => {
      execFile(process.execPath, [bin, ...args], { env }, (error, stdout, stderr) =>
        done({ code: error?.code ?? 0, stdout, stderr }),
      )
    })
    const text = JSON.stringify(ended).replaceAll(home, '<home>').replaceAll(bin, '<program>')
    see(seen, 'command')(args.join(' '), JSON.parse(text))
  }
  see(seen, 'docs')('config.schema', JSON.parse(readFileSync(join(checkout, schemaFile), 'utf8')))
  return seen
}

const schemaFile = 'docs/config.schema.json'

/** Stores what was seen under a name. A repeated name gets a number. */
const see = (seen: Seen, group: string) => (what: string, value: unknown) => {
  const place = `${group}/${what.replaceAll(/[^\w.-]+/g, ' ')}`
  const times = [...seen.keys()].filter((key) => key.replace(/ \(\d+\)$/, '') === place).length
  seen.set(times === 0 ? place : `${place} (${times + 1})`, stable(value))
}
type See = ReturnType<typeof see>

async function overStdio(
  bin: string,
  env: Record<string, string>,
  revision: Revision,
  see: See,
): Promise<void> {
  await using program = startProcess([process.execPath, bin], env)
  const { stdin, stdout } = program.process
  const lines = createInterface(stdout)[Symbol.asyncIterator]()
  await session(revision, see, async (message) => {
    stdin.write(`${JSON.stringify(message)}\n`)
    for (;;) {
      const reply: unknown = JSON.parse((await lines.next()).value ?? '')
      if (Object(reply).id === message.id) return reply
    }
  })
  stdin.end()
  see('exit code', await program.exited)
  see('log', logOf(program.stderr()))
}

async function overHttp(
  bin: string,
  env: Record<string, string>,
  revision: Revision,
  see: See,
): Promise<void> {
  const args = ['http', '--port', '0', '--metrics-port', '0']
  await using program = startProcess([process.execPath, bin, ...args], env)
  const [, url = ''] = await program.waitFor(/Serving MCP at (http:[^\s"]+)/)
  await session(revision, see, async (message) => {
    const { method, headers } = mcpHttpRequest(message.method, { ...message.params })
    const response = await fetch(url, {
      method,
      headers: { ...headers, 'mcp-protocol-version': revision },
      body: JSON.stringify(message),
    })
    const text = await response.text()
    const json = text.startsWith('{') ? text : text.slice(text.lastIndexOf('\ndata:') + 6)
    const answered = { status: response.status, headers: Object.fromEntries(response.headers) }
    return { ...answered, ...Object(JSON.parse(json)) }
  })
  for (const path of ['/', '/healthz', '/readyz', '/mcp', '/nowhere']) {
    const response = await fetch(new URL(path, url))
    see(`GET ${path}`, { status: response.status, body: await response.text() })
  }
  const [metricsUrl = ''] = /http:[^\s"]+\/metrics/.exec(program.stderr()) ?? []
  const metrics = await (await fetch(metricsUrl)).text()
  see('metrics', [...new Set(metrics.replaceAll(/ \S+$/gm, '').split('\n'))].sort())
  program.process.kill('SIGTERM')
  see('exit code', await program.exited)
  see('log', logOf(program.stderr()))
}

/** Lists and reads everything, and calls every tool with good and bad arguments. */
async function session(revision: Revision, see: See, send: Send): Promise<void> {
  const asked: { method: string; params: object; reply: unknown }[] = []
  const isLegacy = revision === '2025-11-25'
  const ask = async (method: string, params: object = {}) => {
    const sent = isLegacy ? params : { ...params, _meta: clientMeta({}) }
    const reply = await send({ ...{ jsonrpc: '2.0', id: asked.length + 1 }, method, params: sent })
    asked.push({ method, params, reply })
    return reply
  }
  const clientInfo = { name: 'compare', version: '1' }
  if (isLegacy) await ask('initialize', { protocolVersion: revision, capabilities: {}, clientInfo })
  else await ask('server/discover')
  await ask('tools/list')
  const { resources } = Listed.parse(await ask('resources/list')).result
  await ask('resources/templates/list')
  for (const { uri } of [...resources, { uri: 'voice-agents://nothing' }])
    await ask('resources/read', { uri })
  const { prompts } = Listed.parse(await ask('prompts/list')).result
  for (const { name } of prompts) await ask('prompts/get', { name, arguments: {} })
  await ask('completion/complete', {
    ref: { type: 'ref/prompt', name: 'review_agent' },
    argument: { name: 'agent_id', value: 'Sup' },
  })
  await ask('tools/call', { name: 'no_such_tool', arguments: {} })
  await ask('no/such/method')
  await everyTool({
    async call(name, args = {}) {
      const reply = await ask('tools/call', { name, arguments: args })
      // At the sandbox's speed, the call ends within this pause, so later results are the same in
      // every run.
      if (name.startsWith('place_')) await sleep(200)
      return z.looseObject({ result: ToolResult }).parse(reply).result
    },
  })
  for (const [name, [args]] of Object.entries(badCalls))
    await ask('tools/call', { name, arguments: args })
  // Ids are numbered across the whole session.
  for (const { method, params, reply } of stable(asked)) {
    const { name = '', uri = '' } = Labelled.parse(params)
    see(`${method} ${name}${uri}`, { params, reply })
  }
}

const Labelled = z.looseObject({ name: z.string().optional(), uri: z.string().optional() })
const Listed = z.looseObject({
  result: z.looseObject({
    resources: z.array(z.looseObject({ uri: z.string() })).default([]),
    prompts: z.array(z.looseObject({ name: z.string() })).default([]),
  }),
})

const commandLines = [
  ['--help'],
  ['--help', 'all'],
  ['--version'],
  ...commands.map(({ name }) => ['help', name]),
  ['config'],
  ['config', '--json'],
  ['tools'],
  ['tools', '--json'],
  ['tools', 'place_call'],
  ['call', 'list_agents', '--help'],
  ['call', 'get_current_account'],
  ['call', 'list_agents', '--limit', '2', '--json'],
  ['call', 'list_agents', '--limit', '0'],
  ['call', 'lst_agents'],
  ['call', 'delete_phone_number', '--phone-number-id', 'x'],
  ['completion', 'bash'],
  ['completion', 'zsh'],
  ['completion', 'fish'],
  ['audit'],
  ['doctor', '--json'],
  ['install', '--json', '--dry-run'],
  ['serve'],
  ['http', '--prot', '1'],
  ['http', '--port', 'x'],
]

/** Sorted lines of a log, because requests end in any order. */
const logOf = (log: string) =>
  stable(
    log
      .split('\n')
      .filter(Boolean)
      .map((line): unknown => (line.startsWith('{') ? JSON.parse(line) : line)),
  )
    .map((line) => JSON.stringify(line))
    .sort()

/** Patterns of words that differ between runs, with their placeholders. */
const placeholders: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d\b/g, '<day>'],
  [/\b\d\d:\d\d:\d\d(\.\d+)?\b/g, '<clock>'],
  [/127\.0\.0\.1:\d+|localhost:\d+/g, '<address>'],
  [/\b(marks|untrusted-speech) [0-9a-f]{12}\b/g, '<mark>'],
  [/\b(batch|auto)-[0-9a-f]{12,24}\b/g, '<call key>'],
  [/\b[0-9a-f]{8}-\d+\b/g, '<request>'],
  [/\bundo [a-p]{12}\b/g, 'undo <change>'],
  [/"(ms|duration_seconds|duration_ms|seconds|minutes)\\?":\s*\d+(\.\d+)?/g, '<duration>'],
  [/\b[0-9a-f]{16,}\b/g, '<hash>'],
  // Tokens, hashes and other long random words.
  [/[A-Za-z0-9_-]{40,}(\.[A-Za-z0-9_-]+)*/g, '<token>'],
  [/\b\d+(\.\d+)? (ms|s|min)\b/g, '<n> $2'],
]

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi

/** Names of fields whose values differ between runs. */
const runFields =
  /^(ms|duration_seconds|duration_ms|seconds|bytes|size|length|content-length|date|process|pid|mtime|request_id|trace_id|span_id|session|time|started|undo|uptime\w*)$/

/** Replaces varying values with placeholders. Ids are numbered in order of appearance. */
function stable<T>(value: T): T {
  const ids = new Map<string, string>()
  const numbered = (id: string) => {
    ids.set(id, ids.get(id) ?? `<id ${ids.size + 1}>`)
    return ids.get(id) ?? ''
  }
  const stableText = (text: string) =>
    placeholders.reduce(
      (changed, [pattern, placeholder]) => changed.replaceAll(pattern, placeholder),
      text.replaceAll(uuid, numbered),
    )
  return JSON.parse(JSON.stringify(value), (name, inner: unknown) => {
    if (Array.isArray(inner) || inner === null) return inner
    if (typeof inner === 'object')
      return Object.fromEntries(Object.entries(inner).map(([key, one]) => [stableText(key), one]))
    if (runFields.test(name)) return '<run>'
    return typeof inner === 'string' ? stableText(inner) : inner
  })
}

const { positionals, refuse } = readScript(usage, {}, { allowPositionals: true })
const [reference, checkout = join(import.meta.dirname, '../..')] = positionals
const builds = {
  before: resolve(reference ?? refuse('REFERENCE is missing.')),
  after: resolve(checkout),
}
for (const folder of Object.values(builds)) {
  if (!existsSync(join(folder, 'dist/voice-agent-mcp.js')))
    refuse(`${folder} has no build: run npm ci && npm run build there.`)
}
using scratch = scratchFolder()
for (const [name, folder] of Object.entries(builds)) {
  using home = scratchFolder()
  for (const [place, value] of await look(folder, home.path)) {
    const file = join(scratch.path, name, `${place}.json`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`)
  }
}
const diff = ['diff', '--no-index', '--no-prefix', ...Object.keys(builds)]
process.exitCode = spawnSync('git', diff, { cwd: scratch.path, stdio: 'inherit' }).status ?? 2
