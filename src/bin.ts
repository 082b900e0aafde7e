#!/usr/bin/env node
import module from 'node:module'

/*
 * Checks the version of Node.js, then starts the program. An old Node.js must be able to run this
 * file up to the check, so until then it uses no new syntax or API and imports none of the
 * program's modules.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

// Ignores write errors, which would otherwise end the process: the log may be on a full disk, or
// its reader may be gone, as is a reader of `--help` that stops early.
for (const stream of [process.stderr, process.stdout]) stream.on('error', () => undefined)

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `voice-agent-mcp needs Node.js 22.19 or newer; this is ${process.versions.node}. ${newerNode()}\n`,
  )
  process.exitCode = 1
} else {
  start()
    .catch((error: Error) => {
      // The program could not be loaded. All other errors are in the program's own log.
      process.stderr.write(`voice-agent-mcp: ${error.message}${openFilesHint(error)}\n`)
      return 1
    })
    .then((code) => {
      process.exitCode = code
      // Everything is closed now, so the process ends by itself. If something keeps the process
      // running, the timer ends it.
      setTimeout(() => process.exit(code), 2000).unref()
    })
}

/** The same command with a newer Node.js: the clone's own, or one that npx downloads. */
function newerNode(): string {
  const require = module.createRequire(import.meta.url)
  const { existsSync } = require('node:fs')
  const { join, relative } = require('node:path')
  const [, script = '', ...args] = process.argv
  const inClone = process.platform === 'win32' ? 'node/bin/node.exe' : 'node/bin/node'
  const bundled = join(script, '../../node_modules', inClone)
  const near = (path: string) =>
    [relative('', path), path].sort((a, b) => a.length - b.length)[0] ?? path
  const words = [near(script), ...args].map((word) =>
    /^[\w@%+=:,./\\-]+$/.test(word) ? word : `'${word}'`,
  )
  return existsSync(bundled)
    ? `Run: ${[near(bundled), ...words].join(' ')}`
    : `Install a newer one, or run: npx -y node@24 ${words.join(' ')}`
}

async function start(): Promise<number> {
  // Clients start this program often, so compiled code is kept on disk. The code is written soon
  // after the start, because clients often kill the process. If NODE_COMPILE_CACHE is set, Node
  // uses that folder already.
  const { compileCacheFolder } = await import('./state/private-files.ts')
  const folder = process.env.NODE_COMPILE_CACHE ? undefined : compileCacheFolder()
  if (folder !== undefined) module.enableCompileCache(folder)
  setTimeout(() => module.flushCompileCache(), 3000).unref()
  const { main } = await import('./cli/main.ts')
  return main(process.argv.slice(2), process.env, openFilesHint)
}

/** Advice if the system refuses to open more files and connections; empty for other errors. */
function openFilesHint({ message }: Error): string {
  return /EMFILE|ENFILE|too many open files/i.test(message)
    ? ' The program may open no more files and connections: raise the limit (ulimit -n) and start it again.'
    : ''
}
