import { readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'

/*
 * Preloaded into a server (--import). On SIGUSR2 it collects garbage and writes the process's
 * memory use and open resources to SOAK_PROBE_FILE. Needs --expose-gc and Linux.
 */

const file = process.env.SOAK_PROBE_FILE ?? ''
let nth = 0

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Targets of all open file descriptors, such as `socket:[123]`. */
function descriptors(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      // The descriptor of this listing itself.
      return []
    }
  })
}

async function look(): Promise<void> {
  // Twice, to collect also objects that finalizers have released.
  for (let round = 0; round < 2; round++) {
    globalThis.gc?.()
    await turn()
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  const open = descriptors()
  const found = {
    nth: ++nth,
    heapUsed: heapUsed + external,
    rss,
    descriptors: open.length,
    sockets: open.filter((one) => one.startsWith('socket:')).length,
    resources: process.getActiveResourcesInfo().length,
  }
  writeFileSync(`${file}.new`, JSON.stringify(found))
  renameSync(`${file}.new`, file)
}

process.on('SIGUSR2', () => void look())
