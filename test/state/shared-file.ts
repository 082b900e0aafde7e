import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { InFile } from '../../src/state/sqlite/state-file.ts'
import { scratchFolder } from '../harness/program.ts'

/** Opens one new file as two servers. Both are closed, and the file is deleted, after the test. */
export function openTwice<Part extends InFile>(
  open: (file: string) => Part,
): readonly [Part, Part] {
  const folder = scratchFolder()
  const file = join(folder.path, 'state.db')
  const servers = [open(file), open(file)] as const
  onTestFinished(async () => {
    for (const server of servers) await server.close()
    folder[Symbol.dispose]()
  })
  return servers
}
