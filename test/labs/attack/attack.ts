import assert from 'node:assert/strict'
import { setInterval } from 'node:timers'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Behaviour,
  type FakePlatformOptions,
  startFakePlatform,
} from '../../harness/fake-platform.ts'
import {
  type Program,
  quietly,
  scratchFolder,
  startInShell,
  startProgram,
} from '../../harness/program.ts'
import { within } from '../measure/load.ts'
import { callBuiltTool, usageOf } from '../measure/program.ts'
import { round } from '../measure/report.ts'

/** The operator's key of the platform. */
export const attackKey = 'attack-key-0123456789'

/** How a program is started. */
export interface Starting {
  readonly args?: string[]
  readonly env?: Record<string, string>
  /** Options of Node. */
  readonly nodeOptions?: readonly string[]
  /** True: it runs with the options of docs/deployment.md for little memory and may take 512 MB. */
  readonly isMemoryScarce?: boolean
  /** A shell command that runs before the program, such as `umask 000`. */
  readonly before?: string
}

// No program is left running when the run is interrupted.
const running = new Set<Program>()
process.on('exit', () => {
  for (const program of running) program.process.kill('SIGKILL')
})

/** What a scenario attacks with. Everything that it starts is stopped at its end, by process id. */
export class Attack implements AsyncDisposable {
  readonly #kept = new AsyncDisposableStack()
  readonly #watches: (() => number)[] = []

  /** Disposes of something at the end of the scenario, the last first. */
  keep<T extends AsyncDisposable | Disposable>(resource: T): T {
    return this.#kept.use(resource)
  }

  /** A folder that is removed at the end of the scenario. */
  folder(): string {
    return this.keep(scratchFolder()).path
  }

  /** Starts a fake platform; `env` has the settings with which the program reaches it. */
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
    // A write to a program that has ended: `exited` reports it.
    program.process.stdin.on('error', () => undefined)
    running.add(program)
    program.exited.then(() => running.delete(program))
    return this.keep(program)
  }

  /** Starts the built program as a server over HTTP on a free port. */
  async serve(starting: Starting = {}): Promise<Program & { readonly url: string }> {
    const args = ['http', '--port', '0', ...(starting.args ?? [])]
    const program = this.start({ ...starting, args })
    const [, url = ''] = await program.waitFor(/Serving MCP at (\S+)/)
    return Object.assign(program, { url })
  }

  /** The most memory that a program with `isMemoryScarce` has taken, MB; `undefined`: there is none. */
  peakMemory(): number | undefined {
    const all = this.#watches.map((max) => max())
    return all.length === 0 ? undefined : Math.max(...all)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kept.disposeAsync()
  }
}

/** What was measured, by name with its unit: `health, ms`. */
export type Figures = Readonly<Record<string, number | string>>

/** One way to attack the built program, and what it guarantees meanwhile. */
export interface Scenario {
  /** Its name on the command line and in docs/security.md. */
  readonly name: string
  /** What an attacker does, or what fails around the server. */
  readonly point: string
  /** What is true during the attack and after it. */
  readonly guarantee: string
  /**
   * Attacks, and gives what was measured. Throws when the guarantee does not hold. What it starts
   * with `attack` is stopped by the caller.
   */
  run(attack: Attack): Promise<Figures>
}

/** How a scenario ended. */
export interface AttackVerdict extends Pick<Scenario, 'name' | 'point' | 'guarantee'> {
  readonly holds: boolean
  /** What did not hold. */
  readonly broken?: string
  readonly seconds: number
  readonly figures: Figures
}

/** The options for little memory of docs/deployment.md. */
export const scarceMemory = {
  MALLOC_ARENA_MAX: '1',
  NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=256',
}

/** The most memory that an attacked program may take, MB. */
const memoryLimit = 512

const lookEveryMs = 20

/**
 * Stops a program when it takes more memory than the limit; gives the most that it has taken, MB. It
 * reads the highest resident memory that the kernel has recorded (VmHWM, proc(5)): that includes
 * peaks between two reads, and needs neither privileges nor a control group.
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
    // Rounded up: a program that was stopped at 512.3 MB has taken more than 512.
    return Math.ceil(max)
  }
}

/** After this a scenario counts as broken, and its programs are stopped. */
const longestMs = 60_000

/** Runs one scenario. Everything that it started has ended when this resolves. */
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
      broken = error instanceof Error ? error.message : String(error)
    }
    const max = attack.peakMemory()
    // An exceeded limit explains errors that follow from it, such as a broken connection.
    if (max !== undefined && max > memoryLimit)
      broken = `The program took ${max} MB of memory and was stopped`
    if (max !== undefined) figures = { ...figures, 'memory, MB': max }
  }
  const seconds = round((performance.now() - began) / 1000, 1)
  const verdict = { name, point, guarantee, holds: broken === undefined, seconds, figures }
  return broken === undefined ? verdict : { ...verdict, broken }
}

/** Does something while it asks a server for its health; fails where an answer took longer than that, ms. */
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

/** Calls a tool for so long, as clients that attack nothing; gives how often. */
export async function callsMeanwhile(url: string, ms: number): Promise<number> {
  let calls = 0
  for (const end = performance.now() + ms; performance.now() < end; calls++) {
    assert.ok(!(await callBuiltTool(url, 'get_current_account')).isError)
    await sleep(50)
  }
  return calls
}

/** A call of a tool that sends one request to the platform. */
export const readSubaccount = {
  name: 'get_subaccount',
  arguments: { subaccount_id: '11111111-1111-4111-8111-111111111111' },
}

/** Waits until `isSo` says yes; fails when it does not after some seconds. */
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
