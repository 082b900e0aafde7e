import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import type { ViewName } from './views.ts'

const decompress = promisify(brotliDecompress)

/** Where the built views are, seen from here and from the parts of the bundle in `dist/parts`. */
const viewsFolder = join(import.meta.dirname, '../../dist/apps')

const read = new Map<ViewName, Promise<string>>()

/** The HTML of a view, which the package holds compressed. It is read once. */
export function readView(name: ViewName): Promise<string> {
  const known = read.get(name)
  if (known) return known
  const html = readFile(join(viewsFolder, `${name}.html.br`)).then(async (bytes) =>
    (await decompress(bytes)).toString('utf8'),
  )
  read.set(name, html)
  // A failure is not kept: its cause may be gone the next time.
  html.catch(() => read.delete(name))
  return html
}
