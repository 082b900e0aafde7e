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

/** What a server held at some moment, after its garbage was collected. Memory in bytes. */
export interface Sample extends Omit<z.output<typeof Probe>, 'nth'> {
  /** Since the soak began, ms. */
  readonly at: number
}

/** What lets a server be looked at from outside. */
export const probeOptions = [
  '--expose-gc',
  '--import',
  fileURLToPath(new URL('probe.ts', import.meta.url)),
]

export const probeEnv = (file: string) => ({ SOAK_PROBE_FILE: file })

/** A server that runs from the beginning to the end, and what it held. */
export class WatchedServer {
  readonly name: string
  readonly samples: Sample[] = []
  /** Before the first request. */
  fresh: Sample | undefined
  /** When all clients have gone. */
  idle: Sample | undefined
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
}
