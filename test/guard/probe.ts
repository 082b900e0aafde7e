import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'

/*
 * Preloaded into the program (node --import). At SIGUSR2 it prints on standard error what the program
 * has loaded and how large its heap is.
 */

/** What the probe prints, as JSON. */
export interface ProbeReport {
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

// An undocumented property of Node.
const loaded = () => (process as unknown as { moduleLoadList: string[] }).moduleLoadList

let times = 0
process.on('SIGUSR2', () => {
  const builtins = loaded().filter((name) => name.startsWith('NativeModule') && !before.has(name))
  const report: ProbeReport = { files, builtins, heapBytes: process.memoryUsage().heapUsed }
  writeSync(2, `probe ${++times} ${JSON.stringify(report)}\n`)
})
for (const name of loaded()) before.add(name)
