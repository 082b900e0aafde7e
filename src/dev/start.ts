import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/*
 * npm start and npm run sandbox: builds if needed, then runs the program with the same arguments in
 * this process, so that a signal to npm reaches the server on every system and frees its port.
 */

const root = join(import.meta.dirname, '../..')
const bin = join(root, 'dist/voice-agent-mcp.js')

const build = [join(import.meta.dirname, 'build.ts'), '--if-needed']
const { status } = spawnSync(process.execPath, build, { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

process.argv = [process.execPath, bin, ...process.argv.slice(2)]
await import(pathToFileURL(bin).href)
