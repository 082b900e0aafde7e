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
import type { Figures } from './figures.ts'
import { type MemoryWatch, memoryLimit, scarceMemory, watchMemory } from './memory.ts'

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
  /** Most open files and connections; when absent, what the machine allows. */
  readonly descriptors?: number
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
  // Stopped in reverse order.
  readonly #stops: (() => unknown)[] = []
  readonly #watches: MemoryWatch[] = []

  /** Disposes of something at the end of the scenario. */
  keep<T extends AsyncDisposable>(thing: T): T {
    this.#stops.push(() => thing[Symbol.asyncDispose]())
    return thing
  }

  /** A folder that is removed at the end of the scenario. */
  folder(): string {
    const folder = scratchFolder()
    this.#stops.push(() => folder[Symbol.dispose]())
    return folder.path
  }

  /** Starts a fake platform; `env` has the settings with which the program reaches it. */
  async platform(behaviour: Behaviour, options: FakePlatformOptions = { account: 'attacked' }) {
    const platform = this.keep(await startFakePlatform(behaviour, options))
    const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: attackKey }
    return Object.assign(platform, { env })
  }

  /** Starts the built program over stdio, with a sandbox in memory unless `env` says otherwise. */
  start(starting: Starting = {}): Program {
    const { args = [], nodeOptions, descriptors, before } = starting
    const env = { VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly, ...environment(starting) }
    const limits = descriptors === undefined ? undefined : `ulimit -n ${descriptors}`
    const commands = [limits, before].filter((command) => command !== undefined)
    const program =
      commands.length === 0
        ? startProgram(args, env, nodeOptions)
        : startInShell(commands.join('; '), args, env, nodeOptions)
    if (starting.isMemoryScarce) this.#watches.push(watchMemory(program, memoryLimit))
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

  /** The most memory that a program with `isMemoryScarce` has taken. */
  figures(): Figures {
    const most = this.#mostMemory()
    return most === undefined ? {} : { 'memory, MB': most }
  }

  /** Says which limit a program has exceeded. */
  passed(): string | undefined {
    const most = this.#mostMemory()
    if (most === undefined || most <= memoryLimit) return undefined
    return `The program took ${most} MB of memory and was stopped`
  }

  #mostMemory(): number | undefined {
    const all = this.#watches.map((watch) => watch.most())
    return all.length === 0 ? undefined : Math.max(...all)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops.reverse()) await stop()
  }
}

const environment = ({ env, isMemoryScarce }: Starting) => ({
  ...(isMemoryScarce && scarceMemory),
  ...env,
})
