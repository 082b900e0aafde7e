import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Machine } from '../../src/cli/install/clients.ts'

/** A temporary home folder. */
export interface ClientHome extends Disposable {
  readonly path: string
  /** A machine with this operating system whose user has this home folder. */
  machine(platform: NodeJS.Platform): Machine
  write(file: string, text: string | Buffer): string
  read(file: string): string
}

/** Creates a temporary home folder. `file` is a path relative to it. */
export function clientHome(): ClientHome {
  const path = mkdtempSync(join(tmpdir(), 'voice-agent-mcp-home-'))
  return {
    path,
    machine: (platform) => ({
      platform,
      home: path,
      env:
        platform === 'win32'
          ? { APPDATA: join(path, 'Roaming'), LOCALAPPDATA: join(path, 'Local') }
          : {},
    }),
    write(file, text) {
      const full = join(path, file)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, text)
      return full
    },
    read: (file) => readFileSync(join(path, file), 'utf8'),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
