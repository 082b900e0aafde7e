import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

/*
 * Loaded into the program before its own first line: tells on standard error, when it gets SIGUSR2,
 * what the program has loaded and how much is on its heap.
 */

/** What the program tells of itself. */
export interface Told {
  /** Files of the program that were loaded, by name. */
  readonly files: readonly string[]
  /** Parts of Node that were loaded with them, by name. */
  readonly builtins: readonly string[]
  readonly heapBytes: number
}

const before = new Set<string>()
const files: string[] = []
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) files.push(url.slice(url.lastIndexOf('/') + 1))
    return next(url, context)
  },
})

// Node does not document it, and has had it since its beginnings.
const loaded = () => (process as unknown as { moduleLoadList: string[] }).moduleLoadList

let times = 0
process.on('SIGUSR2', () => {
  const builtins = loaded().filter((name) => name.startsWith('NativeModule') && !before.has(name))
  const told: Told = { files, builtins, heapBytes: process.memoryUsage().heapUsed }
  writeSync(2, `probe ${++times} ${JSON.stringify(told)}\n`)
})
for (const name of loaded()) before.add(name)
