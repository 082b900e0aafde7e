import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess } from '../../harness/program.ts'
import { cores } from '../measure/program.ts'
import { type Load, LoadResult } from './load-format.ts'

/** Puts a load on a server, from a process of its own; `folder` takes the file that describes it. */
export async function putLoad(load: Load, folder: string): Promise<LoadResult> {
  const file = join(folder, 'load.json')
  writeFileSync(file, JSON.stringify(load))
  const script = [process.execPath, join(import.meta.dirname, 'load.ts'), file]
  const loader = startProcess(['taskset', '-c', cores.others, ...script])
  const code = await loader.exited
  if (code !== 0) throw new Error(`The load ended with ${code}: ${loader.stderr()}`)
  return LoadResult.parse(JSON.parse(loader.stdout()))
}
