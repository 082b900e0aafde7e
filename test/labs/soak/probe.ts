import { readdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'

/*
 * Loaded into a server before the program (--import): on a signal it collects garbage, looks at what
 * the process holds, and writes that to a file. Needs --expose-gc, and Linux.
 */

const file = process.env.SOAK_PROBE_FILE ?? ''
let nth = 0

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** What each open file descriptor is, such as `socket:[123]`. */
function descriptors(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      // The one that lists the folder.
      return []
    }
  })
}

async function look(): Promise<void> {
  // Twice: what finalizers let go of is collected then, too.
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
