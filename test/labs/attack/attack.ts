import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setInterval } from 'node:timers'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../../src/text/safe-text.ts'
import { connectHttp, type TestClient } from '../../harness/client.ts'
import { startConnectProxy } from '../../harness/connect-proxy.ts'
import {
  type Behaviour,
  type FakePlatformOptions,
  startFakePlatform,
} from '../../harness/fake-platform.ts'
import { authority } from '../../harness/private-ca.ts'
import {
  type Program,
  quietly,
  scratchFolder,
  startInShell,
  startProgram,
} from '../../harness/program.ts'
import { within } from '../measure/concurrency.ts'
import { scarceMemory, usageOf } from '../measure/program.ts'
import { round } from '../measure/report.ts'

/** The operator's API key for the fake platform. */
export const attackKey = 'attack-key-0123456789'

/** Options of a started program. */
export interface Starting {
  readonly args?: string[]
  readonly env?: Record<string, string>
  /** Options of Node. */
  readonly nodeOptions?: readonly string[]
  /**
   * If true, the program runs with the low-memory options of docs/deployment.md and may use 512 MB.
   */
  readonly isMemoryScarce?: boolean
  /** A shell command that runs before the program, such as `umask 000`. */
  readonly before?: string
}

// Programs still running. They are killed if the run is interrupted.
const running = new Set<Program>()
process.on('exit', () => {
  for (const program of running) program.process.kill('SIGKILL')
})

/**
 * Starts programs and platforms for a scenario, and stops all of them, by process id, at its end.
 */
export class Attack implements AsyncDisposable {
  readonly #kept = new AsyncDisposableStack()
  readonly #watches: (() => number)[] = []

  /** Disposes of a resource when the scenario ends, in reverse order. */
  keep<T extends AsyncDisposable | Disposable>(resource: T): T {
    return this.#kept.use(resource)
  }

  /** A folder that is removed at the end of the scenario. */
  folder(): string {
    return this.keep(scratchFolder()).path
  }

  /** Starts a fake platform. `env`: the settings that connect the program to it. */
  async platform(behaviour: Behaviour, options: FakePlatformOptions = { account: 'attacked' }) {
    const platform = this.keep(await startFakePlatform(behaviour, options))
    const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: attackKey }
    return Object.assign(platform, { env })
  }

  /** Starts the built program over stdio, with a sandbox in memory unless `env` says otherwise. */
  start(starting: Starting = {}): Program {
    const { args = [], nodeOptions, before, isMemoryScarce } = starting
    const env = {
      ...{ VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly },
      ...(isMemoryScarce && scarceMemory),
      ...starting.env,
    }
    const program =
      before === undefined
        ? startProgram(args, env, nodeOptions)
        : startInShell(before, args, env, nodeOptions)
    if (isMemoryScarce) this.#watches.push(watchMemory(program))
    // A write to an ended program fails. `exited` reports the end.
    program.process.stdin.on('error', () => undefined)
    running.add(program)
    program.exited.then(() => running.delete(program))
    return this.keep(program)
  }

  /** Starts the built program as a server over HTTP on a free port. */
  serve(starting: Starting = {}): Promise<Program & { readonly url: string }> {
    return this.#listening('http', /Serving MCP at (\S+)/, starting)
  }

  /** Starts the built program's sandbox as a platform on a free port. `url`: its base URL. */
  sandbox(starting: Starting = {}): Promise<Program & { readonly url: string }> {
    return this.#listening('sandbox', /sandbox API at (\S+)\/v1/, starting)
  }

  async #listening(command: string, address: RegExp, starting: Starting) {
    const args = [command, '--port', '0', ...(starting.args ?? [])]
    const program = this.start({ ...starting, args })
    const [, url = ''] = await program.waitFor(address)
    return Object.assign(program, { url })
  }

  /** Connects a client of revision 2026-07-28 to a server. */
  async client(url: string, key: string): Promise<TestClient> {
    return this.keep(await connectHttp('v2 2026-07-28', url, { 'x-api-key': key }))
  }

  /**
   * Starts a proxy whose tunnels all lead to a TLS server on this machine, with a certificate of
   * the tests' private authority. `env`: the settings that make the program use both.
   */
  async tunnelTo(port: number) {
    const tunnel = this.keep(await startConnectProxy(port))
    const authorityFile = join(this.folder(), 'authority.pem')
    writeFileSync(authorityFile, authority)
    const env = { HTTPS_PROXY: tunnel.url.href, NODE_EXTRA_CA_CERTS: authorityFile }
    return { tunnel, env }
  }

  /** Peak memory of the programs with `isMemoryScarce`, MB; `undefined` without such programs. */
  peakMemory(): number | undefined {
    const all = this.#watches.map((max) => max())
    return all.length === 0 ? undefined : Math.max(...all)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kept.disposeAsync()
  }
}

/** Measured values by name and unit: `health, ms`. */
export type Figures = Readonly<Record<string, number | string>>

/** One attack on the built program, and the guarantee that must hold. */
export interface Scenario {
  /** Name on the command line and in docs/security.md. */
  readonly name: string
  /** What an attacker does, or what fails around the server. */
  readonly point: string
  /** What must hold during and after the attack. */
  readonly guarantee: string
  /**
   * Runs the attack and returns the measured values. Throws if the guarantee does not hold. The
   * caller stops everything started with `attack`.
   */
  run(attack: Attack): Promise<Figures>
}

/** Result of a scenario. */
export interface AttackVerdict extends Pick<Scenario, 'name' | 'point' | 'guarantee'> {
  readonly holds: boolean
  /** Why the guarantee did not hold. */
  readonly broken?: string
  readonly seconds: number
  readonly figures: Figures
}

/** Memory limit of an attacked program, MB. */
const memoryLimit = 512

const lookEveryMs = 20

/**
 * Kills a program that exceeds the memory limit. Returns a function that gives its peak memory, MB.
 * Reads the kernel's peak resident memory (VmHWM, proc(5)), which includes peaks between two reads
 * and needs neither privileges nor a control group.
 */
function watchMemory({ process: child, exited }: Program): () => number {
  let max = 0
  const look = () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const seen = usageOf(child).peakMemory
    // NaN while the process ends.
    if (Number.isNaN(seen)) return
    max = seen
    if (max > memoryLimit) child.kill('SIGKILL')
  }
  look()
  const timer = setInterval(look, lookEveryMs)
  exited.then(() => clearInterval(timer))
  return () => {
    look()
    // Rounded up: a program killed at 512.3 MB has exceeded 512.
    return Math.ceil(max)
  }
}

/**
 * Time limit of a scenario, ms. A scenario over the limit has failed, and its programs are stopped.
 */
const longestMs = 60_000

/** Runs one scenario. Resolves when everything that it started has ended. */
export async function run(scenario: Scenario): Promise<AttackVerdict> {
  const { name, point, guarantee } = scenario
  const began = performance.now()
  let figures: Figures = {}
  let broken: string | undefined
  {
    await using attack = new Attack()
    try {
      figures = await within(longestMs, scenario.run(attack))
    } catch (error) {
      broken = messageOf(error)
    }
    const max = attack.peakMemory()
    // An exceeded memory limit explains errors that follow, such as a broken connection.
    if (max !== undefined && max > memoryLimit)
      broken = `The program took ${max} MB of memory and was stopped`
    if (max !== undefined) figures = { ...figures, 'memory, MB': max }
  }
  const seconds = round((performance.now() - began) / 1000, 1)
  const verdict = { name, point, guarantee, holds: broken === undefined, seconds, figures }
  return broken === undefined ? verdict : { ...verdict, broken }
}

/** Polls a server's /health while `work` runs. Fails if a response takes longer than `longestMs`. */
export async function healthDuring(
  url: string,
  work: () => Promise<unknown>,
  longestMs = Number.POSITIVE_INFINITY,
): Promise<Figures> {
  let longest = 0
  let isOver = false
  const askForHealth = async () => {
    while (!isOver) {
      const began = performance.now()
      const { status } = await fetch(new URL('/health', url))
      assert.equal(status, 200)
      longest = Math.max(longest, performance.now() - began)
      await sleep(20)
    }
  }
  const working = work().finally(() => {
    isOver = true
  })
  await Promise.all([working, askForHealth()])
  assert.ok(longest < longestMs, `The server was silent for ${longest} ms`)
  return { 'longest wait for /health, ms': round(longest, 0) }
}

/** A tool call that sends one request to the platform. */
export const readSubaccount = {
  name: 'get_subaccount',
  arguments: { subaccount_id: '11111111-1111-4111-8111-111111111111' },
}

/** Waits until `isSo` returns true. Fails after some seconds. */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  seconds = 20,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!(await isSo())) {
    assert.ok(performance.now() < end, `Not after ${seconds} s: ${what}`)
    await sleep(50)
  }
}
