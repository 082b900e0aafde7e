import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import * as z from 'zod'

/** Path of a package below node_modules, with what precedes it. */
const packagePath = /^(.*node_modules\/(?:\.pnpm\/[^/]+\/node_modules\/)?)((?:@[^/]+\/)?[^/]+)\//

const Package = z.object({ name: z.string(), version: z.string(), license: z.string() })

/**
 * The licence texts of everything in a bundle, in one file: of the packages its inputs lie in, of
 * packages that were built into those before (their source maps tell), of parts that came into a
 * package with a licence of their own, and of data in our own files that others have made.
 */
export function licences(root: string, inputs: readonly string[]): string {
  const texts = new Map<string, Licence>()
  const add = (name: string) => {
    if (!texts.has(name)) texts.set(name, licenceOf(join(root, 'node_modules', name)))
  }
  for (const input of inputs) {
    const [, before = '', name] = packagePath.exec(input) ?? []
    if (name === undefined) {
      const data = dataLicence(root, input)
      if (data) texts.set(input, data)
      continue
    }
    add(name)
    for (const inlined of inlinedIn(join(root, input))) add(inlined)
    const top = join(root, before, name)
    for (let folder = dirname(join(root, input)); folder !== top; folder = dirname(folder)) {
      const nested = licenceFile(folder)
      if (nested) {
        const part = relative(root, folder)
        texts.set(part, { title: part, text: readFileSync(nested, 'utf8').trim() })
      }
    }
  }
  const sorted = [...texts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([, licence]) => licence)
  // The same text stands there once, under all that it is for.
  return Object.entries(Object.groupBy(sorted, ({ text }) => text))
    .map(([text, group = []]) => `${group.map(({ title }) => title).join('\n')}\n\n${text}`)
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

interface Licence {
  /** What it is for. */
  readonly title: string
  readonly text: string
}

/** The licence of the data in a file of ours, which lies beside it. */
function dataLicence(root: string, input: string): Licence | undefined {
  const file = join(root, input.replace(/\.ts$/, '.LICENSE.txt'))
  if (!input.startsWith('src/') || !existsSync(file)) return undefined
  return { title: `Data in ${input}`, text: readFileSync(file, 'utf8').trim() }
}

function licenceFile(folder: string): string | undefined {
  const file = readdirSync(folder).find((name) => /^licen[sc]e(\.(md|txt))?$/i.test(name))
  return file && join(folder, file)
}

function licenceOf(folder: string): Licence {
  const file = existsSync(folder) && licenceFile(folder)
  if (!file) throw new Error(`${folder} has no licence file: look before shipping it.`)
  const { name, version, license } = Package.parse(
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
  )
  return { title: `${name} ${version} (${license})`, text: readFileSync(file, 'utf8').trim() }
}

/** Packages whose sources a file was built from, by its source map. */
function inlinedIn(file: string): string[] {
  const map = `${file}.map`
  if (!existsSync(map)) return []
  const { sources } = z
    .object({ sources: z.array(z.string()) })
    .parse(JSON.parse(readFileSync(map, 'utf8')))
  return sources.flatMap((source) => packagePath.exec(source)?.[2] ?? [])
}
