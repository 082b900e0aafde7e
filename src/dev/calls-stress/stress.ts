import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lastWord, type Placement, place, placementsOf } from './placements.ts'
import { type Rung, startPlatform } from './platform.ts'
import { randomOf, Tally } from './random.ts'
import { Server } from './servers.ts'

export interface StressOptions {
  readonly placements: number
  readonly seed: number
  /** Placements under way at once. */
  readonly atOnce: number
  /** Each of the two servers is killed this often, on average, ms. */
  readonly killEveryMs: number
  /** How often the most patient client asks until it gives up. */
  readonly mostTries: number
  /** The built program. */
  readonly program: string
}

/** What came of it. */
export interface Report {
  readonly placements: number
  readonly seconds: number
  readonly kills: number
  /** What the clients were told in the end, and whether the telephone had rung. */
  readonly outcomes: Record<string, number>
  /** Why refused requests were refused, all tries counted. */
  readonly refusals: Record<string, number>
  readonly platform: Record<string, number>
  readonly deliveredTwice: number
  readonly rungTwice: number
  readonly lost: number
  readonly violations: readonly string[]
}

/** Places calls through two servers that share their memory and are killed at random. */
export async function stressCalls(options: StressOptions): Promise<Report> {
  const { seed, atOnce, killEveryMs, mostTries, program } = options
  const started = performance.now()
  const stateDir = mkdtempSync(join(tmpdir(), 'stress-calls-'))
  try {
    await using platform = await startPlatform(seed)
    const env = environment(platform.url, stateDir)
    await using first = new Server(program, env)
    await using second = new Server(program, env)
    const servers = [first, second]
    const placements = placementsOf(options.placements, seed)
    const done = new AbortController()
    const suffering = servers.map((server, index) =>
      server.suffer(killEveryMs, randomOf(seed, 'kills', index), done.signal),
    )
    await inParallel(placements, atOnce, (placement) => place(placement, servers, mostTries))
    done.abort()
    await Promise.all(suffering)
    await platform.settled()
    return {
      placements: placements.length,
      seconds: Math.round((performance.now() - started) / 1000),
      kills: first.kills + second.kills,
      platform: platform.faults(),
      ...judge(placements, platform.rung),
    }
  } finally {
    rmSync(stateDir, { recursive: true, force: true })
  }
}

const environment = (url: string, stateDir: string) => ({
  PATH: process.env.PATH ?? '',
  VOICE_AGENT_BASE_URL: url,
  VOICE_AGENT_API_KEY: 'stress-key-0123456789',
  VOICE_AGENT_CONFIRM: 'never',
  VOICE_AGENT_STATE_DIR: stateDir,
  VOICE_AGENT_HEADERS_TIMEOUT: '0.3',
  VOICE_AGENT_TIMEOUT: '0.5',
  VOICE_AGENT_CALL_FIND_OUT: '1',
  // Longer than the platform takes to act and to show what it did, on a busy machine too.
  VOICE_AGENT_CALL_SETTLE: '5',
})

async function inParallel<T>(
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

function judge(placements: readonly Placement[], rung: ReadonlyMap<string, readonly Rung[]>) {
  const outcomes = new Tally()
  const refusals = new Tally()
  const violations = placements.flatMap((placement) => {
    const calls = rung.get(placement.number) ?? []
    const word = lastWord(placement)
    outcomes.add(`${word.kind}, ${['not rung', 'rung once'][calls.length] ?? 'rung twice'}`)
    for (const answer of placement.tries.flat()) {
      if (answer.kind === 'refused') refusals.add(answer.why)
    }
    return wrongs(placement, calls).map((wrong) => `${placement.number}: ${wrong}`)
  })
  const count = (pattern: RegExp) => violations.filter((text) => pattern.test(text)).length
  return {
    outcomes: outcomes.all(),
    refusals: refusals.all(),
    deliveredTwice: placements.flatMap(({ tries }) => tries).filter((one) => one.length > 1).length,
    rungTwice: count(/rung twice/),
    lost: count(/lost/),
    violations,
  }
}

/** What a placement did not keep of what is promised. */
function wrongs(placement: Placement, calls: readonly Rung[]): string[] {
  const answers = placement.tries.flat()
  const [call] = calls
  const told = () => `; told ${answers.map(({ kind }) => kind).join(', ')}`
  const wrong = answers.flatMap((answer): string[] => {
    switch (answer.kind) {
      case 'placed':
      case 'repeated':
        if (!call) return [`lost: said to be placed and not rung${told()}`]
        return calls.some(({ id }) => id === answer.callId)
          ? []
          : ['the call named is none of the platform']
      case 'unknown':
        return saysSo(answer.text, placement) ? [] : [`unknown in other words: ${answer.text}`]
      case 'refused':
        return answer.why === 'internal' ? [answer.text] : []
      default:
        return []
    }
  })
  const last = lastWord(placement)
  if (calls.length > 1) wrong.push(`rung twice${told()}`)
  if (last.kind === 'refused' && call) wrong.push(`lost: rung and refused, ${last.text}${told()}`)
  return [...new Set(wrong)]
}

/** The error says that nothing is known, and of which call. */
const saysSo = (text: string, { externalId }: Placement) =>
  text.includes('NOT KNOWN') &&
  /list_calls/.test(text) &&
  (externalId === undefined ? /external_id auto-/.test(text) : text.includes(externalId))
