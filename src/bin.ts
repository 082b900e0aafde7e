#!/usr/bin/env node
import module from 'node:module'
import { openFilesHint } from './cli/open-files-hint.ts'

/*
 * Starts the program, or says why it cannot. This file must run on any Node that can read it, so
 * it uses nothing new, and imports nothing of ours that does, before the version is known.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

// A log on a full disk, or one that nobody reads any more, must not end the program: without a
// listener an error of the stream would. The same holds for a reader that has seen enough of --help.
for (const stream of [process.stderr, process.stdout]) stream.on('error', () => undefined)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `voice-agent-mcp needs Node.js 22.19 or newer; this is ${process.versions.node}. Install a newer one; a clone has one in node_modules/node/bin/node after npm ci.\n`,
  )
  process.exitCode = 1
} else {
  // What we use of Node works, but Node 22 warns at every start that SQLite is new; other warnings
  // stay.
  const isExpected = (warning: Error) =>
    warning.name === 'ExperimentalWarning' && /SQLite/.test(warning.message)
  const show = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (!isExpected(warning)) for (const listener of show) listener(warning)
  })
  start()
    .catch((error: Error) => {
      process.stderr.write(`voice-agent-mcp failed: ${error.message}${openFilesHint(error)}\n`)
      return 1
    })
    .then((code) => {
      process.exitCode = code
      // Everything is closed by now, so the process ends by itself; what lingers is not waited for.
      setTimeout(() => process.exit(code), 2000).unref()
    })
}

async function start(): Promise<number> {
  // Assistants start this program again and again: what is compiled once is kept. Written soon after
  // the start, because clients kill more often than they ask. Where NODE_COMPILE_CACHE is set, Node
  // has chosen that folder already.
  const { compileCacheFolder } = await import('./cli/compile-cache-folder.ts')
  const folder = process.env.NODE_COMPILE_CACHE ? undefined : compileCacheFolder()
  if (folder !== undefined) module.enableCompileCache(folder)
  setTimeout(() => module.flushCompileCache(), 3000).unref()
  const { main } = await import('./cli/main.ts')
  return main(process.argv.slice(2), process.env)
}
