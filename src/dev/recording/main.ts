import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { picture } from './picture.ts'
import { record } from './record.ts'
import { hasTerminal } from './terminal.ts'

/*
 * npm run recording: runs what a newcomer types in a fresh clone of the last commit, in a terminal,
 * and draws it as docs/pictures/first-minute.svg. Needs `script` of util-linux (Linux).
 */

const root = join(import.meta.dirname, '../../..')
export const file = join(root, 'docs/pictures/first-minute.svg')

if (import.meta.main) {
  if (!hasTerminal()) throw new Error('This needs the program script of util-linux.')
  const scratch = mkdtempSync(join(tmpdir(), 'clone-'))
  try {
    const clone = join(scratch, 'voice-agent-mcp')
    execFileSync('git', ['clone', '--quiet', root, clone])
    writeFileSync(file, picture(await record(clone)))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
