import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The built program. */
export const bin = join(import.meta.dirname, '../../dist/voice-agent-mcp.js')

/**
 * This process's environment without settings of the program and without proxies. The sandbox has
 * the small seed, whose data never changes.
 */
export function cleanEnv(extra: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(VOICE_AGENT_|https?_proxy|NODE_OPTIONS|VITEST)/i.test(entry[0]),
  )
  return { ...Object.fromEntries(kept), VOICE_AGENT_SANDBOX_SEED: 'small', ...extra }
}

/** Settings of most tests: no confirmation, state in memory, no local token. */
export const quietly = {
  VOICE_AGENT_CONFIRM: 'never',
  VOICE_AGENT_STATE_DIR: ':memory:',
  VOICE_AGENT_LOCAL_TOKEN: 'off',
}

/** A temporary folder, removed when it goes out of scope. */
export function scratchFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'voice-agent-mcp-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** A running program. */
export interface Program extends AsyncDisposable {
  readonly process: ChildProcessWithoutNullStreams
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves with the first match on standard error. Rejects if the program ends without one. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>
  /** Exit code; null if a signal ended it. */
  readonly exited: Promise<number | null>
}

/** Starts the program. It is killed when it goes out of scope. */
export function startProgram(
  args: string[],
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Program {
  return collected(spawn(process.execPath, [...nodeOptions, bin, ...args], { env: cleanEnv(env) }))
}

/**
 * Starts the program after commands of a POSIX shell, such as `ulimit -n 64` or `exec 2>/dev/full`.
 */
export function startInShell(
  commands: string,
  args: string[],
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Program {
  const script = ['-c', `${commands}; exec "$0" "$@"`]
  const command = [...script, process.execPath, ...nodeOptions, bin, ...args]
  return collected(spawn('/bin/sh', command, { env: cleanEnv(env) }))
}

/** Starts any command in the clean environment. */
export function startProcess(command: readonly string[], env?: Record<string, string>): Program {
  const [file = '', ...args] = command
  return collected(spawn(file, args, { env: cleanEnv(env) }))
}

/** First port, below the range that systems assign automatically (Linux: from 32768). */
const firstPort = 10_000
/** Number of ports of each vitest worker. */
const portsOfWorker = 1000
let nextPort = randomInt(portsOfWorker)

/** A free port, for a program that cannot report the port that it took. No other test gets it. */
export async function freePort(): Promise<number> {
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % 20
  for (;;) {
    nextPort = (nextPort + 1) % portsOfWorker
    const port = firstPort + worker * portsOfWorker + nextPort
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Collects the output of a started program, which is killed when it goes out of scope. */
function collected(child: ChildProcessWithoutNullStreams): Program {
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(stderr)
          if (!match) return
          child.stderr.off('data', look)
          resolve(match)
        }
        child.stderr.on('data', look)
        exited.then(() => reject(new Error(`Ended without ${pattern}: ${stderr}`)))
        look()
      }),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill('SIGKILL')
      await exited
    },
  }
}

/** Starts the program serving MCP over HTTP on a free port. */
export async function startHttpProgram(
  env: Record<string, string> = {},
  args: string[] = [],
  nodeOptions: readonly string[] = [],
): Promise<Program & { url: string }> {
  const settings = { VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly, ...env }
  const program = startProgram(['http', '--port', '0', ...args], settings, nodeOptions)
  const [, url = ''] = await program.waitFor(/Serving MCP at ([^\s"]+)/)
  return Object.assign(program, { url })
}

/** Starts the sandbox as a platform on a free port; `url` is its base URL. */
export async function startPlatformProgram(
  env: Record<string, string> = {},
): Promise<Program & { url: string }> {
  const program = startProgram(['sandbox', '--port', '0'], {
    VOICE_AGENT_SANDBOX_DB: ':memory:',
    ...env,
  })
  const [, url = ''] = await program.waitFor(/sandbox API at (\S+)\/v1/)
  return Object.assign(program, { url })
}
