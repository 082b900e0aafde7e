import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import type { ViewName } from './views.ts'

const decompress = promisify(brotliDecompress)

/** Folder of the built views, relative to this file and to the bundle's parts in `dist/parts`. */
const viewsFolder = join(import.meta.dirname, '../../dist/apps')

const read = new Map<ViewName, Promise<string>>()

/** The HTML of a view, decompressed from the package and cached. */
export function readView(name: ViewName): Promise<string> {
  const known = read.get(name)
  if (known) return known
  const html = readFile(join(viewsFolder, `${name}.html.br`)).then(async (bytes) =>
    (await decompress(bytes)).toString('utf8'),
  )
  read.set(name, html)
  // A failure is not cached: its cause may be temporary.
  html.catch(() => read.delete(name))
  return html
}
