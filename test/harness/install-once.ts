import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as z from 'zod'

/**
 * Installs the packages of a folder's own manifest, which a plain `npm ci` in the project leaves
 * out. Does nothing, and needs no network, if the versions of the lock file are installed.
 */
export function installOnce(folder: string): void {
  if (isInstalled(folder)) return
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    // npm writes to standard error; standard output belongs to the caller.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
}

/** Installs the packages of a folder's own manifest, and imports a module of theirs. */
export async function importInstalled(folder: string, module: string): Promise<object> {
  installOnce(folder)
  const path = createRequire(join(folder, 'package.json')).resolve(module)
  return { ...(await import(pathToFileURL(path).href)) }
}

const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), optional: z.boolean().optional() }),
  ),
})

/**
 * True if every package of the lock file is installed. Optional packages for other systems may be
 * missing.
 */
function isInstalled(folder: string): boolean {
  const installed = join(folder, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return false
  const packagesIn = (file: string) => Lock.parse(JSON.parse(readFileSync(file, 'utf8'))).packages
  const found = packagesIn(installed)
  return Object.entries(packagesIn(join(folder, 'package-lock.json'))).every(
    ([path, { version, optional }]) =>
      path === '' || (optional && !found[path]) || found[path]?.version === version,
  )
}
