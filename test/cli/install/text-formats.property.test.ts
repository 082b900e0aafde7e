import fc from 'fast-check'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import {
  type ChangedText,
  changedText,
  FormatError,
  type TextFormat,
} from '../../../src/cli/install/config-text-edits.ts'
import { jsonWithComments, strictJson } from '../../../src/cli/install/json-format.ts'
import { toml } from '../../../src/cli/install/toml-format.ts'
import { yaml } from '../../../src/cli/install/yaml-format.ts'
import { jsonTexts, mangled, tomlTexts, yamlTexts } from '../../harness/client-file-texts.ts'
import { tries } from '../../harness/property.ts'

const entry = {
  command: '/a b/"node"',
  args: ['-y', 'x: #1'],
  env: { KEY: '$' + '{env:KEY}', 'A.b': '' },
}

interface Kind {
  readonly kind: string
  readonly format: TextFormat
  /** Path of our entry. */
  readonly path: readonly [string, string]
  readonly texts: fc.Arbitrary<string>
  /** An independent parser of the format: the client's own, or one that accepts the same files. */
  readonly parse: (text: string) => unknown
}

const kinds: readonly Kind[] = [
  {
    kind: 'JSON',
    format: strictJson,
    path: ['mcpServers', 'ours'],
    texts: jsonTexts(false),
    parse: JSON.parse,
  },
  {
    kind: 'JSON with comments',
    format: jsonWithComments,
    path: ['mcpServers', 'ours'],
    texts: jsonTexts(true),
    parse: jsonWithComments.read,
  },
  { kind: 'TOML', format: toml, path: ['mcp_servers', 'ours'], texts: tomlTexts, parse: parseToml },
  {
    kind: 'YAML',
    format: yaml,
    path: ['extensions', 'ours'],
    texts: yamlTexts,
    parse: (text) => parseYaml(text, { logLevel: 'error' }) ?? {},
  },
]

type Servers = Record<string, Record<string, unknown> | null | undefined>

/** Result of `make`; `undefined` if it refuses the text with one of the `refusals`. */
function unlessRefused<T>(make: () => T, refusals: (error: unknown) => boolean): T | undefined {
  try {
    return make()
  } catch (error) {
    if (refusals(error)) return undefined
    throw error
  }
}

const isFormatError = (error: unknown) => error instanceof FormatError

/** The data without our entry, and without its parent object if that becomes empty. */
function others(data: unknown, [outer, ours]: Kind['path']): unknown {
  const all = structuredClone(data) as Servers
  const inner = all[outer]
  if (inner) delete inner[ours]
  if (!inner || Object.keys(inner).length === 0) delete all[outer]
  return all
}

/** Text that the edits remove. It may contain only white space and empty objects. */
const takenAway = ({ changes }: ChangedText) =>
  changes.flatMap(({ before, edits }) => edits.map(({ start, end }) => before.slice(start, end)))

describe.each(kinds)('$kind', ({ format, path, texts, parse }) => {
  const add = (text: string) =>
    unlessRefused(() => changedText(format, text, [{ set: path, value: entry }]), isFormatError)
  const remove = (text: string) => changedText(format, text, [{ remove: path }]).text
  const parsed = (text: string) =>
    unlessRefused(
      () => parse(text),
      () => true,
    )

  test('our entry comes and goes, and nothing else changes', () => {
    const count = { tried: 0, refused: 0, restored: 0 }
    fc.assert(
      fc.property(texts, (text) => {
        const data = parsed(text)
        if (data === undefined) return
        count.tried++
        const after = add(text)
        if (!after) {
          count.refused++
          return
        }
        for (const part of takenAway(after)) expect(part).toMatch(/^\s*(\{\s*\})?$/)
        const changed = parse(after.text) as Servers
        expect(changed[path[0]]?.[path[1]]).toEqual(entry)
        expect(others(changed, path)).toEqual(others(data, path))
        const back = remove(after.text)
        expect(others(parse(back), path)).toEqual(others(data, path))
        if (Object.keys((data as Servers)[path[0]] ?? {}).length === 0) return
        count.restored++
        expect(back).toBe(text)
      }),
      tries(300),
    )
    // Guards against a property that holds only because every value was refused.
    expect(count.tried).toBeGreaterThan(100)
    expect(count.restored).toBeGreaterThan(50)
    expect(count.refused).toBeLessThan(count.tried / 20)
  })

  test('a mangled file is changed right, or refused', () => {
    fc.assert(
      fc.property(mangled(texts), (text) => {
        const after = add(text)
        if (!after) return
        expect(format.read(after.text)).toMatchObject({ [path[0]]: { [path[1]]: entry } })
        const data = parsed(text)
        if (data === undefined) return
        // A file that was valid stays valid, and keeps all other data.
        expect(others(parse(after.text), path)).toEqual(others(data, path))
      }),
      tries(1000),
    )
  })

  test('a mangled file loses nothing but our entry when that goes', () => {
    fc.assert(
      fc.property(mangled(texts.map((text) => add(text)?.text ?? text)), (text) => {
        const data = parsed(text)
        if (data === undefined) return
        const after = unlessRefused(() => remove(text), isFormatError)
        if (after === undefined) return
        expect(others(parse(after), path)).toEqual(others(data, path))
      }),
      tries(700),
    )
  })
})
