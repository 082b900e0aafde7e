#!/usr/bin/env node
import module from 'node:module'

/*
 * Starts the program, or says why it cannot. This file must run on any Node that can read it, so
 * it uses nothing new and imports nothing of ours before the version is known.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `voice-agent-mcp needs Node.js 22.19 or newer; this is ${process.versions.node}. Install a current one from your usual source.\n`,
  )
  process.exitCode = 1
} else {
  // What we use of Node works, but it warns at every start that some is new; other warnings stay.
  const isExpected = (warning: Error) =>
    warning.name === 'ExperimentalWarning' && /SQLite|execve/.test(warning.message)
  const show = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (!isExpected(warning)) for (const listener of show) listener(warning)
  })
  // Assistants start this program again and again: what is compiled once is kept in the user's
  // temporary folder. Written soon after the start, because clients kill more often than they ask.
  module.enableCompileCache()
  setTimeout(() => module.flushCompileCache(), 2000).unref()
  import('./main.ts')
    .then(({ main }) => main(process.argv.slice(2), process.env))
    .catch((error: Error) => {
      process.stderr.write(`voice-agent-mcp failed: ${error.message}\n`)
      return 1
    })
    .then((code) => {
      process.exitCode = code
      // Everything is closed by now, so the process ends by itself; what lingers is not waited for.
      setTimeout(() => process.exit(code), 2000).unref()
    })
}
