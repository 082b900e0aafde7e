import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../../src/sandbox/store.ts'
import { scratchFolder } from '../../harness/program.ts'
import { furnish } from './furniture/furnish.ts'
import { readState, type State } from './state.ts'

/** Makes a sandbox's database with a company for each job. A file of that name is replaced. */
export function makeFurnishedSandbox(
  file: string,
  jobs: readonly { readonly name: string }[],
): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  openStore(file, (store) => {
    for (const { name } of jobs) furnish(store, name)
  }).close()
}

/** The company of a job as it is before anything is done. */
export function furnishedState(job: string): State {
  using folder = scratchFolder()
  const file = join(folder.path, 'furnished.db')
  makeFurnishedSandbox(file, [{ name: job }])
  return readState(file, job)
}
