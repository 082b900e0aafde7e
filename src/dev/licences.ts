import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import * as z from 'zod'

/** Splits a path into the part before a package and the package's name. */
const packagePath = /^(.*node_modules\/(?:\.pnpm\/[^/]+\/node_modules\/)?)((?:@[^/]+\/)?[^/]+)\//

const Package = z.object({ name: z.string(), version: z.string(), license: z.string() })

/**
 * Licence texts of everything in a bundle: packages of its inputs, packages built into those (by
 * source map), folders of a package with their own licence, and third-party data in our files.
 * Throws if a package has no licence text, or if a data licence matches no file of the bundle.
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
  const unused = globSync('src/**/*.LICENSE.txt', { cwd: root }).filter(
    (file) => !texts.has(file.replace('.LICENSE.txt', '.ts')),
  )
  if (unused.length > 0)
    throw new Error(`${unused.join(', ')}: no file of the bundle has this name`)
  const sorted = [...texts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([, licence]) => licence)
  // A text shared by several packages appears once, below all their names.
  return Object.entries(Object.groupBy(sorted, ({ text }) => text))
    .map(([text, group = []]) => `${group.map(({ title }) => title).join('\n')}\n\n${text}`)
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

interface Licence {
  /** The licensed package, folder or file. */
  readonly title: string
  readonly text: string
}

/** Licence of third-party data in a source file, from `NAME.LICENSE.txt` beside `NAME.ts`. */
function dataLicence(root: string, input: string): Licence | undefined {
  const file = join(root, input.replace(/\.ts$/, '.LICENSE.txt'))
  if (!input.startsWith('src/') || !existsSync(file)) return undefined
  return { title: `Data in ${input}`, text: readFileSync(file, 'utf8').trim() }
}

function licenceFile(folder: string): string | undefined {
  const file = readdirSync(folder).find((name) => /^licen[sc]e(\.(md|txt))?$/i.test(name))
  return file && join(folder, file)
}

/** Licence of a package that has it as the last section of its README. */
function licenceInReadme(folder: string): string | undefined {
  const readme = join(folder, 'README.md')
  if (!existsSync(readme)) return undefined
  const [, text] = /^## licen[sc]e\n([\s\S]+)$/im.exec(readFileSync(readme, 'utf8')) ?? []
  return text !== undefined && /^Copyright/m.test(text) && !/^#/m.test(text) ? text : undefined
}

/**
 * MIT packages without a licence text, each with a package of the same authors that has the text.
 */
const sameAuthors: Readonly<Record<string, string>> = { 'koa-compose': 'koa' }

function licenceOf(folder: string): Licence {
  const textFolder = join(dirname(folder), sameAuthors[basename(folder)] ?? basename(folder))
  const file = existsSync(folder) ? licenceFile(textFolder) : undefined
  const text = file === undefined ? licenceInReadme(folder) : readFileSync(file, 'utf8')
  if (text === undefined)
    throw new Error(`${folder} has no licence file; find out its licence before it is shipped`)
  const { name, version, license } = Package.parse(
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
  )
  return { title: `${name} ${version} (${license})`, text: text.trim() }
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
