import { scratchFolder } from '../../harness/program.ts'
import { randomOf } from '../random.ts'
import { startFaultyPlatform } from './faulty-platform.ts'
import { judge, type StressVerdict } from './judge.ts'
import { KilledServer } from './killed-server.ts'
import { place, placementsOf } from './placements.ts'

export interface StressOptions {
  readonly placements: number
  readonly seed: number
  /** Placements under way at once. */
  readonly atOnce: number
  /** Mean time between two kills of one of the two servers, ms. */
  readonly killEveryMs: number
  /** Tries after which a client gives up. */
  readonly mostTries: number
  /** The built program. */
  readonly program: string
}

export interface StressReport extends StressVerdict {
  readonly placements: number
  readonly seconds: number
  readonly kills: number
  /** What the platform did, by name. */
  readonly platform: Record<string, number>
}

/** Places calls through two servers that share a state directory and are killed at random. */
export async function stressCalls(options: StressOptions): Promise<StressReport> {
  const { seed, atOnce, mostTries, program } = options
  const began = performance.now()
  using folder = scratchFolder()
  await using platform = await startFaultyPlatform(seed)
  const env = { ...stressSettings(platform.url), VOICE_AGENT_STATE_DIR: folder.path }
  await using first = new KilledServer(program, env)
  await using second = new KilledServer(program, env)
  const servers = [first, second]
  const placements = placementsOf(options.placements, seed)
  await whileKilled(servers, options, () =>
    inParallel(placements, atOnce, (placement) => place(placement, servers, mostTries)),
  )
  await platform.settled()
  return {
    placements: placements.length,
    seconds: Math.round((performance.now() - began) / 1000),
    kills: first.kills + second.kills,
    platform: platform.faults(),
    ...judge(placements, platform.platform),
  }
}

async function whileKilled(
  servers: readonly KilledServer[],
  { seed, killEveryMs }: StressOptions,
  work: () => Promise<void>,
): Promise<void> {
  const done = new AbortController()
  const killing = servers.map((server, index) =>
    server.killRepeatedly(killEveryMs, randomOf(seed, 'kills', index), done.signal),
  )
  try {
    await work()
  } finally {
    done.abort()
    await Promise.all(killing)
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
  // Longer than the platform takes to act and to show what it did, on a busy machine too.
  VOICE_AGENT_CALL_SETTLE: '5',
})

/** Does work on all items, so many at once. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of left) await work(item)
    }),
  )
}
