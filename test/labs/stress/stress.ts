import { setTimeout as sleep } from 'node:timers/promises'
import { type Program, scratchFolder, startProcess } from '../../harness/program.ts'
import { inParallel } from '../measure/load.ts'
import { StdioClient } from '../measure/program.ts'
import { randomOf } from '../random.ts'
import { startFaultyPlatform } from './faulty-platform.ts'
import { type Answer, answerOf, type CallPlacer, judge, place, placementsOf } from './placements.ts'

interface StressOptions {
  readonly placements: number
  readonly seed: number
  /** Concurrent placements. */
  readonly concurrency: number
  /** Mean time between two kills of one of the two servers, ms. */
  readonly killEveryMs: number
  /** Tries after which a client gives up. */
  readonly maxTries: number
  /** The built program. */
  readonly program: string
}

/** Places calls through two servers that share a state directory and are killed at random. */
export async function stressCalls(options: StressOptions) {
  const { seed, concurrency, killEveryMs, maxTries, program } = options
  const began = performance.now()
  using folder = scratchFolder()
  await using platform = await startFaultyPlatform(seed)
  const env = { ...stressSettings(platform.url), VOICE_AGENT_STATE_DIR: folder.path }
  await using first = new KilledServer(program, env)
  await using second = new KilledServer(program, env)
  const servers = [first, second]
  const placements = placementsOf(options.placements, seed)
  const done = new AbortController()
  const killing = servers.map((server, index) =>
    server.killRepeatedly(killEveryMs, randomOf(seed, 'kills', index), done.signal),
  )
  try {
    await inParallel(placements, concurrency, (placement) => place(placement, servers, maxTries))
  } finally {
    done.abort()
    await Promise.all(killing)
  }
  await platform.settled()
  return {
    placements: placements.length,
    seconds: Math.round((performance.now() - began) / 1000),
    kills: first.kills + second.kills,
    /** Numbers of the platform's faults, by name. */
    platform: platform.faults(),
    ...judge(placements, platform.platform),
  }
}

/** Settings of a server that places calls on the faulty platform. */
export const stressSettings = (url: string) => ({
  VOICE_AGENT_BASE_URL: url,
  VOICE_AGENT_API_KEY: 'stress-key-0123456789',
  VOICE_AGENT_CONFIRM: 'never',
  VOICE_AGENT_HEADERS_TIMEOUT: '0.3',
  VOICE_AGENT_TIMEOUT: '0.5',
  VOICE_AGENT_CALL_FIND_OUT: '1',
  // Longer than the platform needs to act and to list a call, also on a busy machine.
  VOICE_AGENT_CALL_SETTLE: '5',
})

/** The program over stdio, killed and restarted while its client sends requests. */
export class KilledServer implements CallPlacer, AsyncDisposable {
  kills = 0
  readonly #command: readonly string[]
  readonly #env: Record<string, string>
  #program: Program
  #client: StdioClient

  constructor(program: string, env: Record<string, string>) {
    this.#command = [process.execPath, program]
    this.#env = env
    this.#program = startProcess(this.#command, this.#env)
    this.#client = new StdioClient(this.#program)
  }

  /** Calls place_call. Throws if there is no answer although the server was not killed. */
  async place(args: Record<string, unknown>): Promise<Answer> {
    const { kills } = this
    try {
      return answerOf(await this.#client.callTool('place_call', args))
    } catch (error) {
      if (this.kills === kills) throw error
      return { kind: 'dead' }
    }
  }

  /** Kills the program again and again, on average once in `everyMs`, until the signal fires. */
  async killRepeatedly(everyMs: number, random: () => number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(2 * everyMs * random(), undefined, { signal }).catch(() => undefined)
      if (!signal.aborted) this.#restart()
    }
  }

  #restart(): void {
    this.kills++
    this.#program.process.kill('SIGKILL')
    this.#program = startProcess(this.#command, this.#env)
    this.#client = new StdioClient(this.#program)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]()
  }
}
