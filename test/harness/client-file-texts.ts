import fc from 'fast-check'

/*
 * Arbitrary configuration files of MCP clients, as people and programs write them: with comments
 * and other servers, on one or many lines, with LF or CRLF, with and without a final line break.
 */

const name = fc.constantFrom('a', 'b', 'x y', 'ours2', 'é😀', 'k.l', '#', '__proto')

const leaf = fc.oneof(
  fc.constantFrom('', 'x', 'a // b', '# c', '{', ']', ': ', "it's", 'q"q', '\\', '😀'),
  fc.integer({ min: -9, max: 99 }),
  fc.boolean(),
)

const object = <T>(values: fc.Arbitrary<T>, maxKeys: number) =>
  fc.dictionary(name, values, { maxKeys, noNullPrototype: true })

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    leaf,
    object(tie('any'), 3),
    fc.array(tie('any'), { maxLength: 3 }),
  ),
})).any

/** Content of a file: settings, and optionally servers. */
const content = fc
  .record({
    before: object(value, 2),
    servers: fc.option(object(object(value, 3), 3)),
    after: value,
  })
  .map(({ before, servers, after }) => ({
    ...before,
    ...(servers && { mcpServers: servers }),
    z: after,
  }))

const spaces = ['', ' ', '\n', '\n  ', '\r\n\t']
const comments = ['/* c */', ' // d\n', '\n// e, {\n']

/**
 * JSON text with servers below `mcpServers`; `hasComments`: JSON with comments and trailing commas.
 */
export function jsonTexts(hasComments: boolean): fc.Arbitrary<string> {
  const gap = fc.constantFrom(...spaces, ...(hasComments ? comments : []))
  const gaps = fc.array(gap, { minLength: 30, maxLength: 30 })
  return fc.tuple(content, gaps, fc.boolean()).map(([data, some, hasLastComma]) => {
    let at = 0
    const space = () => some[at++ % some.length] ?? ''
    const write = (one: unknown): string => {
      if (typeof one !== 'object' || one === null) return JSON.stringify(one)
      const items = Array.isArray(one)
        ? one.map((item) => space() + write(item) + space())
        : Object.entries(one).map(
            ([key, item]) =>
              `${space()}${JSON.stringify(key)}${space()}:${space()}${write(item)}${space()}`,
          )
      const last = hasComments && hasLastComma && items.length > 0 ? `,${space()}` : ''
      const [open, close] = Array.isArray(one) ? '[]' : '{}'
      return open + (items.length > 0 ? items.join(',') + last : space()) + close
    }
    return space() + write(data) + space()
  })
}

const eols = fc.constantFrom('\n', '\r\n')
const ends = fc.constantFrom('', '\n', '\n\n', '  \n')

const tomlLine = fc.constantFrom(
  'a = 1',
  'b = "x # y" # c',
  "'é 😀' = [1, 2]",
  'd = { e = "f" }',
  '# note',
  '',
)
const tomlTable = fc.constantFrom(
  '[mcp_servers.one]\ncommand = "c" # d',
  '[mcp_servers.one.env]\nK = "secret"',
  '[mcp_servers.two]',
  '[tools]\nx = """\n[mcp_servers.ours]\n"""',
  '[[list]]\ny = 1\n[[list]]\ny = 2',
  '[mcp_servers]\nthree = { command = "t" }',
  '[mcp_servers."x y"]\nz = 1979-05-27',
  '# end',
)
const tomlOdd = fc.constantFrom(
  '',
  '',
  '',
  'mcp_servers.dot.command = "x"',
  'mcp_servers = { in = { command = "x" } }',
)

/** TOML text with servers below `mcp_servers`. Some define a table twice, which TOML forbids. */
export const tomlTexts: fc.Arbitrary<string> = fc
  .tuple(
    tomlOdd,
    fc.uniqueArray(tomlLine, { maxLength: 4 }),
    fc.uniqueArray(tomlTable, { maxLength: 4 }),
    ends,
    eols,
  )
  .map(([odd, lines, tables, end, eol]) =>
    ([odd, ...lines, ...tables].join('\n') + end).replaceAll('\n', eol),
  )

const yamlPair = fc.constantFrom<string[]>(
  'A: "x # y" # c',
  'B: |\n  text\n  more\n',
  'C:\n  - 1\n  - k: v',
  '# note',
  'D: {a: 1, b: [1, 2]}',
  "'E e': 'it''s'",
  '',
)
const yamlServer = fc.constantFrom(
  'one:\n    cmd: c # d\n    args:\n    - -y\n    - b',
  'two: {cmd: x}',
  "'x y':\n    envs:\n      K: secret\n",
  '# about\n  three:\n    text: |\n      a\n\n      b',
  'four: >-\n    folded\n    text',
)
const yamlServers = fc.oneof(
  fc.constantFrom('', 'extensions: {}', 'extensions:', 'extensions: {one: {cmd: c}}'),
  fc
    .uniqueArray(yamlServer, { minLength: 1, maxLength: 3 })
    .map((some) => `extensions:\n${some.map((one) => `  ${one}`).join('\n')}`),
)

/** YAML text with servers below `extensions`. */
export const yamlTexts: fc.Arbitrary<string> = fc
  .tuple(fc.uniqueArray(yamlPair, { maxLength: 5 }), fc.nat(5), yamlServers, ends, eols)
  .map(([pairs, at, servers, end, eol]) =>
    (pairs.toSpliced(at, 0, servers).join('\n') + end).replaceAll('\n', eol),
  )

const mangling = fc.tuple(
  fc.nat(),
  fc.nat(2),
  fc.constantFrom('', ',', '}', '{', '"', '\n', '[', ']', ':', '#', '//', ' ', '-', '='),
)

/** Texts with up to three random edits: invalid files, and valid files of another meaning. */
export const mangled = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(texts, fc.array(mangling, { minLength: 1, maxLength: 3 })).map(([text, changes]) =>
    changes.reduce((result, [seed, length, added]) => {
      const at = seed % (result.length + 1)
      return result.slice(0, at) + added + result.slice(at + length)
    }, text),
  )
