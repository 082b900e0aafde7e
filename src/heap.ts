import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/*
 * What keeps a process small that lasts and is under load. Left alone it takes 250 MB before V8
 * collects anything but the youngest, ten times what is alive.
 */

/**
 * What V8 takes at its start only. Compiling on other threads saves stalls in the first seconds, but
 * what it takes for that stays with each of them; a young generation of more is no faster here.
 */
const flags = ['--no-concurrent-recompilation', '--max-semi-space-size=4']

/**
 * The same of glibc: that threads share their memory, and that the system gets back what is large
 * as soon as it is free.
 */
const settings = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' }

/** The last Node that is known to take these flags: one that does not know one ends at once. */
const lastKnown = 26

/**
 * Starts this process anew with both, as itself: with its id, its streams and its arguments; what
 * the operator has set of these stays. Where it cannot be (Windows, a parent with a channel to it, a
 * Node to come), it goes on as it is, and takes some 40 MB more.
 */
export function startSmall(): void {
  const isSmall = flags.every((flag) => process.execArgv.includes(flag))
  const isKnown = Number.parseInt(process.versions.node, 10) <= lastKnown
  if (isSmall || !isKnown || process.channel || !process.execve) return
  const args = [process.execPath, ...flags, ...process.execArgv, ...process.argv.slice(1)]
  try {
    process.execve(process.execPath, args, { ...settings, ...process.env })
  } catch {
    // The system cannot, or Node was told not to.
  }
}

/** Has V8 keep its heap near what is alive. Collected once, it knows how much that is. */
export function beSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=40')
  setFlagsFromString('--expose-gc')
  const collect: NodeJS.GCFunction = runInNewContext('gc')
  collect()
}
