import { mapConcurrently } from '../../../src/platform/map-concurrently.ts'
import { type Program, scratchFolder, startProcess } from '../../harness/program.ts'
import { restartRepeatedly } from '../../harness/replicas.ts'
import { StdioClient } from '../measure/clients.ts'
import { randomOf } from '../random.ts'
import { startFaultyPlatform } from './faulty-platform.ts'
import { judge } from './find-violations.ts'
import {
  type Answer,
  answerOf,
  type CallPlacer,
  isPlaced,
  place,
  placementsOf,
  type StressPlacement,
} from './placements.ts'

interface StressOptions {
  readonly placements: number
  readonly seed: number
  /** Concurrent placements. */
  readonly concurrency: number
  /** Mean number of answers of a server before it is killed. */
  readonly killEvery: number
  /** Tries after which a client gives up. */
  readonly maxTries: number
  /** The built program. */
  readonly program: string
  /**
   * Minimum numbers of placed calls, kills and kinds of faults. Further rounds of placements follow
   * until all are reached, because more placements fail on a busy machine.
   */
  readonly until?: { readonly placed: number; readonly kills: number; readonly faults: number }
}

/** Places calls through two servers that share a state directory and are killed at random. */
export async function stressCalls(options: StressOptions) {
  const { seed, concurrency, killEvery, maxTries, program, until } = options
  const began = performance.now()
  using folder = scratchFolder()
  await using platform = await startFaultyPlatform(seed)
  const env = { ...stressSettings(platform.url), VOICE_AGENT_STATE_DIR: folder.path }
  await using first = new KilledServer(program, env)
  await using second = new KilledServer(program, env)
  const servers = [first, second]
  const placements: StressPlacement[] = []
  const isEnough = () =>
    !until ||
    (placements.filter(isPlaced).length >= until.placed &&
      first.kills + second.kills >= until.kills &&
      Object.keys(platform.faults()).length >= until.faults)
  const done = new AbortController()
  const killing = servers.map((server, index) =>
    server.killRepeatedly(killEvery, randomOf(seed, 'kills', index), done.signal),
  )
  try {
    do {
      const more = placementsOf(options.placements, seed, placements.length)
      placements.push(...more)
      await mapConcurrently(more, concurrency, (placement) => place(placement, servers, maxTries))
    } while (!isEnough())
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
  #answers = 0
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
      const answer = answerOf(await this.#client.callTool('place_call', args))
      this.#answers++
      return answer
    } catch (error) {
      if (this.kills === kills) throw error
      return { kind: 'dead' }
    }
  }

  /** Kills and restarts the program until the signal fires, every `every` answers on average. */
  killRepeatedly(every: number, random: () => number, signal: AbortSignal): Promise<void> {
    const answers = () => this.#answers
    return restartRepeatedly(() => this.#restart(), { answers, every, random, signal })
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
