import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import * as z from 'zod'
import { clientMeta, mcpHttpRequest } from '../../harness/mcp-request.ts'
import { cleanEnv, startProcess } from '../../harness/program.ts'
import { badCalls, everyTool } from '../../harness/story.ts'
import { stable } from './stable.ts'

/** What a user of a build can see, by where it was seen; equal for builds that behave alike. */
export type Recording = ReadonlyMap<string, unknown>

type Params = Readonly<Record<string, unknown>>
/** Sends a request, and gives the reply: its result or its error. */
type Send = (method: string, params?: Params) => Promise<unknown>

const legacyVersion = '2025-11-25'
const revisions = [legacyVersion, '2026-07-28'] as const
type Revision = (typeof revisions)[number]

/** A build under comparison: the folder of a checkout in which `npm run build` has run. */
export async function record(checkout: string): Promise<Recording> {
  const home = mkdtempSync(join(tmpdir(), 'compare-'))
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
  })
  const seen = new Map<string, unknown>()
  try {
    for (const revision of revisions) {
      for (const confirm of ['never', 'always']) {
        const settings = { ...env, VOICE_AGENT_CONFIRM: confirm }
        const of = `${revision}, --confirm ${confirm}`
        await recordStdio(bin, settings, revision, `stdio ${of}`, seen)
        await recordHttp(bin, settings, revision, `http ${of}`, seen)
      }
    }
    await recordCommands(bin, env, home, seen)
    seen.set('config.schema.json', readJson(join(checkout, 'docs/config.schema.json')))
    return seen
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))

type Seen = Map<string, unknown>
type Environment = Record<string, string>

async function recordStdio(
  bin: string,
  env: Environment,
  revision: Revision,
  label: string,
  seen: Seen,
): Promise<void> {
  await using program = startProcess([process.execPath, bin], env)
  const { stdin, stdout } = program.process
  const waiting = new Map<unknown, (message: unknown) => void>()
  createInterface(stdout).on('line', (line) => {
    const message = z.looseObject({ id: z.unknown() }).parse(JSON.parse(line))
    waiting.get(message.id)?.(message)
  })
  let id = 0
  const send: Send = (method, params = {}) => {
    id += 1
    const message = { jsonrpc: '2.0', id, method, params: withMeta(params, revision) }
    stdin.write(`${JSON.stringify(message)}\n`)
    const sent = id
    return new Promise((resolve) => waiting.set(sent, resolve))
  }
  await recordSession(send, revision, label, seen, () => {
    stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  })
  stdin.end()
  seen.set(`${label}: exit code`, await program.exited)
  seen.set(`${label}: log`, logOf(program.stderr()))
}

async function recordHttp(
  bin: string,
  env: Environment,
  revision: Revision,
  label: string,
  seen: Seen,
): Promise<void> {
  const command = [process.execPath, bin, 'http', '--port', '0', '--metrics-port', '0']
  await using program = startProcess(command, env)
  const [, url = ''] = await program.waitFor(/Serving MCP at (http:[^\s"]+)/)
  let id = 0
  const send: Send = async (method, params = {}) => {
    id += 1
    const request =
      revision === legacyVersion
        ? {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              accept: 'application/json, text/event-stream',
              'mcp-protocol-version': revision,
            },
            body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
          }
        : mcpHttpRequest(method, params, { id })
    const response = await fetch(url, request)
    const text = await response.text()
    const events = text.split('\n').filter((line) => line.startsWith('data:'))
    const json = text.startsWith('{') ? text : (events.at(-1)?.slice('data:'.length) ?? '')
    const headers = Object.fromEntries(response.headers)
    return { status: response.status, headers, ...Object(JSON.parse(json)) }
  }
  await recordSession(send, revision, label, seen, () => undefined)
  for (const path of ['/', '/healthz', '/readyz', '/mcp', '/nowhere']) {
    const response = await fetch(new URL(path, url))
    const body = await response.text()
    seen.set(`${label}: GET ${path}`, stable({ status: response.status, body }))
  }
  const [metricsUrl = ''] = /http:[^\s"]+\/metrics/.exec(program.stderr()) ?? []
  const metrics = await (await fetch(metricsUrl)).text()
  seen.set(`${label}: metrics`, namesOfMetrics(metrics))
  program.process.kill('SIGTERM')
  seen.set(`${label}: exit code`, await program.exited)
  seen.set(`${label}: log`, logOf(program.stderr()))
}

const withMeta = (params: Params, revision: Revision): Params =>
  revision === legacyVersion ? params : { ...params, _meta: clientMeta({}) }

/** Lists everything, reads everything, and calls every tool with good and bad arguments. */
async function recordSession(
  send: Send,
  revision: Revision,
  label: string,
  seen: Seen,
  onInitialized: () => void,
): Promise<void> {
  const replies: Record<string, unknown>[] = []
  const ask: Send = async (method, params) => {
    const reply = await send(method, params)
    replies.push({ method, params, reply })
    return reply
  }
  if (revision === legacyVersion) {
    const clientInfo = { name: 'compare', version: '1' }
    await ask('initialize', { protocolVersion: revision, capabilities: {}, clientInfo })
    onInitialized()
  } else await ask('server/discover')
  await ask('tools/list')
  const resources = await ask('resources/list')
  await ask('resources/templates/list')
  for (const uri of valuesOf(resources, 'uri')) await ask('resources/read', { uri })
  await ask('resources/read', { uri: 'voice-agents://nothing' })
  const prompts = await ask('prompts/list')
  for (const name of valuesOf(prompts, 'name')) await ask('prompts/get', { name, arguments: {} })
  await ask('completion/complete', {
    ref: { type: 'ref/prompt', name: 'review_agent' },
    argument: { name: 'agent_id', value: 'Sup' },
  })
  await ask('tools/call', { name: 'no_such_tool', arguments: {} })
  await ask('no/such/method')
  await everyTool({
    async call(name, args = {}) {
      const reply = await ask('tools/call', { name, arguments: args })
      // At this speed a call is over by then, so that what follows sees the same in every run.
      if (name.startsWith('place_')) await setTimeout(200)
      return ToolReply.parse(reply).result
    },
  })
  for (const [name, [args]] of Object.entries(badCalls)) {
    await ask('tools/call', { name, arguments: args })
  }
  // Ids are numbered through the whole session, so it is made comparable as a whole.
  const comparable = z.array(z.record(z.string(), z.unknown())).parse(stable(replies))
  for (const [at, { method, params, reply }] of comparable.entries()) {
    const place = String(at + 1).padStart(3, '0')
    const { name, uri } = Labelled.parse(params ?? {})
    seen.set(`${label}: ${place} ${[method, name, uri].filter(Boolean).join(' ')}`, {
      params,
      reply,
    })
  }
}

const ToolReply = z.looseObject({
  result: z.looseObject({
    content: z.array(z.looseObject({ type: z.string(), text: z.string() })),
    structuredContent: z.record(z.string(), z.unknown()).optional(),
  }),
})

const Labelled = z.looseObject({ name: z.unknown().optional(), uri: z.unknown().optional() })

/** Every value of a key, wherever it is, as far as it is text. */
function valuesOf(value: unknown, key: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(item, key))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name === key && typeof inner === 'string' ? [inner] : []),
    ...(name === 'arguments' ? [] : valuesOf(inner, key)),
  ])
}

const commandLines = [
  ['--help'],
  ['--help', 'all'],
  ['--version'],
  ...['stdio', 'http', 'sandbox', 'config', 'audit', 'doctor', 'install', 'uninstall'].map(
    (name) => ['help', name],
  ),
  ['help', 'tools'],
  ['help', 'call'],
  ['help', 'completion'],
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

async function recordCommands(
  bin: string,
  env: Environment,
  home: string,
  seen: Seen,
): Promise<void> {
  for (const args of commandLines) {
    const run = await new Promise<object>((resolve) => {
      execFile(process.execPath, [bin, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code ?? 0, stdout, stderr }),
      )
    })
    const text = JSON.stringify(run).replaceAll(home, '<home>').replaceAll(bin, '<program>')
    seen.set(`command: ${args.join(' ')}`, stable(JSON.parse(text)))
  }
}

/** Lines of a log, without order: requests end when they end. */
const logOf = (log: string) =>
  z
    .array(z.unknown())
    .parse(
      stable(
        log
          .split('\n')
          .filter(Boolean)
          .map((line) => (line.startsWith('{') ? JSON.parse(line) : line)),
      ),
    )
    .map((line) => JSON.stringify(line))
    .sort()

const namesOfMetrics = (text: string) =>
  [...new Set(text.split('\n').map((line) => line.replace(/\s[^\s]+$/, '')))].sort()
