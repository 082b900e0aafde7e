import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'

const Probe = z.object({
  nth: z.int(),
  heapUsed: z.number(),
  rss: z.number(),
  descriptors: z.int(),
  sockets: z.int(),
  resources: z.int(),
})

/** Memory, bytes, and open resources of a server after a garbage collection. */
export interface Sample extends Omit<z.output<typeof Probe>, 'nth'> {
  /** Time since the soak began, ms. */
  readonly at: number
}

/** Node.js options that preload the probe. */
export const probeOptions = [
  '--expose-gc',
  '--import',
  fileURLToPath(new URL('resource-probe.ts', import.meta.url)),
]

export const probeEnv = (file: string) => ({ SOAK_PROBE_FILE: file })

/** The samples of a server during a soak. */
export interface Watched {
  readonly name: string
  /** Sample before the traffic begins. */
  readonly fresh: Sample
  /** Samples during the traffic. */
  readonly samples: readonly Sample[]
  /** Sample after all clients have left. */
  readonly idle: Sample
}

/** A server that runs during the whole soak, with the probe preloaded. */
export class WatchedServer {
  readonly name: string
  readonly samples: Sample[] = []
  readonly #pid: number
  readonly #file: string
  readonly #began = performance.now()
  #looks = 0

  constructor(name: string, pid: number, file: string) {
    this.name = name
    this.#pid = pid
    this.#file = file
  }

  async look(): Promise<Sample> {
    this.#looks++
    process.kill(this.#pid, 'SIGUSR2')
    for (let waited = 0; waited < 10_000; waited += 20) {
      await sleep(20)
      if (!existsSync(this.#file)) continue
      const { nth, ...held } = Probe.parse(JSON.parse(readFileSync(this.#file, 'utf8')))
      if (nth === this.#looks) return { ...held, at: performance.now() - this.#began }
    }
    throw new Error(`${this.name} does not answer its probe`)
  }

  /**
   * Waits until an idle server has closed its open resources, at most `maxMs`. How long this takes
   * depends on the machine. Leaked resources stay open.
   */
  async rest(fresh: Sample, maxMs: number): Promise<Watched> {
    const end = performance.now() + maxMs
    for (;;) {
      await sleep(2000)
      const idle = await this.look()
      if (stillOpen({ fresh, idle }).length === 0 || performance.now() > end)
        return { name: this.name, fresh, samples: this.samples, idle }
    }
  }
}

/**
 * Maximum open resources of an idle server beyond those of a fresh one, opened on first use of the
 * state and kept: five SQLite databases of three files each (`.db`, `-wal` and `-shm`), or the
 * connections to PostgreSQL.
 */
const keptOpen = { descriptors: 15, sockets: 4, resources: 6 } as const

/** Violations of the limit for open resources. */
export const stillOpen = ({ fresh, idle }: Pick<Watched, 'fresh' | 'idle'>): string[] =>
  (['descriptors', 'sockets', 'resources'] as const).flatMap((what) =>
    idle[what] > fresh[what] + keptOpen[what]
      ? `${idle[what]} ${what} are open after all clients have left; ${fresh[what]} at the start`
      : [],
  )
