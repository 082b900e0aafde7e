import { describe, expect, test } from 'vitest'
import type { Path, PlainValue, TextFormat } from '../../../src/cli/install/config-text-edits.ts'
import { changedText, FormatError } from '../../../src/cli/install/config-text-edits.ts'
import { jsonWithComments, strictJson } from '../../../src/cli/install/json-format.ts'
import { toml } from '../../../src/cli/install/toml-format.ts'
import { yaml } from '../../../src/cli/install/yaml-format.ts'

const set = (format: TextFormat, text: string, path: Path, value: PlainValue) =>
  changedText(format, text, [{ set: path, value }]).text
const remove = (format: TextFormat, text: string, path: Path) =>
  changedText(format, text, [{ remove: path }]).text

const entry = { command: 'node', args: ['x.js'] }
const json = ['mcpServers', 'ours']

describe('JSON', () => {
  test.each([
    [
      'an empty file',
      '',
      '{\n  "mcpServers": {\n    "ours": {\n      "command": "node",\n      "args": [\n        "x.js"\n      ]\n    }\n  }\n}\n',
    ],
    [
      'an empty object',
      '{}',
      '{\n  "mcpServers": {\n    "ours": {\n      "command": "node",\n      "args": [\n        "x.js"\n      ]\n    }\n  }\n}',
    ],
    [
      'one line',
      '{"a":1,"mcpServers":{"b":{}}}',
      '{"a":1,"mcpServers":{"b":{}, "ours":{"command":"node","args":["x.js"]}}}',
    ],
    [
      'tabs and CRLF',
      '{\r\n\t"mcpServers": {\r\n\t\t"b": {}\r\n\t}\r\n}\r\n',
      '{\r\n\t"mcpServers": {\r\n\t\t"b": {},\r\n\t\t"ours": {\r\n\t\t\t"command": "node",\r\n\t\t\t"args": [\r\n\t\t\t\t"x.js"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}\r\n',
    ],
  ])('%s', (_, before, after) => {
    expect(set(strictJson, before, json, entry)).toBe(after)
  })

  test.each([
    ['a line', '// mine\n', '// mine\n{\n  "a": 1\n}\n'],
    ['several lines with CRLF', '// b\r\n/* c */', '// b\r\n/* c */\r\n{\r\n  "a": 1\r\n}\r\n'],
  ])('a file that has only comments keeps them: %s', (_, before, after) => {
    expect(set(jsonWithComments, before, ['a'], 1)).toBe(after)
    expect(remove(jsonWithComments, before, ['a'])).toBe(before)
    expect(() => set(strictJson, before, ['a'], 1)).toThrow(FormatError)
    expect(() => set(jsonWithComments, '/* open', ['a'], 1)).toThrow(FormatError)
  })

  test.each([
    [
      'a comment behind the last server',
      '{\n  "mcpServers": {\n    "b": {} // mine, yours\n  }\n}',
      '{\n  "mcpServers": {\n    "b": {}, // mine, yours\n    "ours": {}\n  }\n}',
    ],
    [
      'a comma after the last server',
      '{\n  "mcpServers": {\n    "b": {},\n  },\n}',
      '{\n  "mcpServers": {\n    "b": {},\n    "ours": {},\n  },\n}',
    ],
    [
      'only a comment',
      '{\n  "mcpServers": {\n    // none yet\n  }\n}',
      '{\n  "mcpServers": {\n    // none yet\n    "ours": {}\n  }\n}',
    ],
    [
      'a comment at the end of a line with the bracket below',
      '{ "mcpServers": { "b": 1 // c\n} }',
      '{ "mcpServers": { "b": 1, // c\n  "ours": {}\n} }',
    ],
    [
      'a comment before the bracket',
      '{\n  "mcpServers": { "b": 1 /* c */ }\n}',
      '{\n  "mcpServers": { "b": 1, /* c */ "ours":{} }\n}',
    ],
  ])('with comments: %s', (_, before, after) => {
    expect(set(jsonWithComments, before, json, {})).toBe(after)
    expect(remove(jsonWithComments, after, json)).toBe(before)
  })

  test('removing does not put what follows into a comment', () => {
    const text = '{"mcpServers": { // c\n "ours": {}, "b": 1 } }'
    expect(jsonWithComments.read(remove(jsonWithComments, text, json))).toEqual({
      mcpServers: { b: 1 },
    })
  })

  test.each([
    ['{"mcpServers": []}', /\bobject\b/, 1, 16],
    ['{"mcpServers": null}', /\bobject\b/, 1, 16],
    ['{"a":1,\n "mcpServers": {},\n "mcpServers": {}}', /"mcpServers"/, 3, 2],
    ['{"a":1,\n x}', /\bJSON$/, 2, 2],
    ['{"a":1', /\bJSON$/, 1, 7],
    ['{"a": 1 // no\n}', /\bJSON$/, 1, 9],
    ['{"a": 1,\n}', /\bJSON$/, 2, 1],
    ['{"a": "x\ny"}', /\bJSON$/, 1, 7],
    ['[1]', /\bone JSON object$/, 1, 1],
  ])('%s is refused with line and column', (text, message, line, column) => {
    expect(() => set(strictJson, text, json, entry)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(message), line, column }),
    )
  })

  test('a list is appended to', () => {
    const text = '{\n  "inputs": [\n    { "id": "a" }\n  ]\n}'
    const after = set(strictJson, text, ['inputs', 1], { id: 'b' })
    expect(after).toBe(
      '{\n  "inputs": [\n    { "id": "a" },\n    {\n      "id": "b"\n    }\n  ]\n}',
    )
    expect(remove(strictJson, after, ['inputs', 1])).toBe(text)
  })
})

describe('TOML', () => {
  const path = ['mcp_servers', 'ours']
  const value = { command: 'node', args: ['x.js'], env: { A: 'b"c' } }
  const table =
    '[mcp_servers.ours]\ncommand = "node"\nargs = ["x.js"]\n\n[mcp_servers.ours.env]\nA = "b\\"c"\n'

  test.each([
    ['an empty file', '', table],
    ['keys and comments', '# c\nmodel = "x" # y\n', `# c\nmodel = "x" # y\n\n${table}`],
    [
      'other servers',
      '[mcp_servers.b]\ncommand = "b"\n',
      `[mcp_servers.b]\ncommand = "b"\n\n${table}`,
    ],
    ['no line end at the end', 'a = 1', `a = 1\n\n${table}`.trimEnd()],
    ['CRLF', 'a = 1\r\n', `a = 1\n\n${table}`.replaceAll('\n', '\r\n')],
    ['dotted keys', 'mcp_servers.b.command = "b"\n', `mcp_servers.b.command = "b"\n\n${table}`],
  ])('%s', (_, before, after) => {
    expect(set(toml, before, path, value)).toBe(after)
    expect(remove(toml, after, path)).toBe(before)
  })

  test('an inline table is extended', () => {
    const before = 'mcp_servers = { b = { command = "b" } }\n'
    const after = 'mcp_servers = { b = { command = "b" }, ours = { command = "node" } }\n'
    expect(set(toml, before, path, { command: 'node' })).toBe(after)
    expect(remove(toml, after, path)).toBe(before)
  })

  test('values are changed and added in their table', () => {
    const before = '[mcp_servers.ours]\ncommand = "old" # why\n\n[b]\nc = 1\n'
    const changed = set(toml, before, [...path, 'command'], 'new')
    expect(changed).toBe('[mcp_servers.ours]\ncommand = "new" # why\n\n[b]\nc = 1\n')
    expect(set(toml, changed, [...path, 'args'], ['a'])).toBe(
      '[mcp_servers.ours]\ncommand = "new" # why\nargs = ["a"]\n\n[b]\nc = 1\n',
    )
  })

  test('tables around ours stay', () => {
    const text = `[a]\nx = 1\n\n${table}\n# about b\n[b]\ny = 2\n`
    expect(remove(toml, text, path)).toBe('[a]\nx = 1\n\n# about b\n[b]\ny = 2\n')
  })

  test.each([
    ['a = 1\nb = = 2\n', 2, 5],
    ['[a]\n[a]\n', 2, 2],
  ])('%j is refused with line and column', (text, line, column) => {
    expect(() => set(toml, text, path, value)).toThrow(
      expect.objectContaining({ name: 'FormatError', line, column }),
    )
  })

  test('a list of tables where servers should be is refused', () => {
    expect(() => set(toml, '[[mcp_servers]]\nx = 1\n', path, value)).toThrow(FormatError)
  })
})

describe('YAML', () => {
  const path = ['extensions', 'ours']
  const value = { type: 'stdio', args: ['-y'], envs: {} }
  const block = '  ours:\n    type: stdio\n    args:\n      - -y\n    envs: {}\n'

  test.each([
    ['an empty file', '', `extensions:\n${block}`],
    ['no extensions', 'A: "x" # c\n', `A: "x" # c\nextensions:\n${block}`],
    ['empty extensions', 'extensions: {}\nB: 1\n', `extensions:\n${block}B: 1\n`],
    [
      'others, with more after them',
      'extensions:\n  a:\n    args:\n    - b\n\n# c\nB: 1\n',
      `extensions:\n  a:\n    args:\n    - b\n${block}\n# c\nB: 1\n`,
    ],
    [
      'others at the end',
      'extensions:\n  a: {x: 1} # c\n',
      `extensions:\n  a: {x: 1} # c\n${block}`,
    ],
    ['no line end at the end', 'extensions:\n  a: 1', `extensions:\n  a: 1\n${block}`.trimEnd()],
    [
      'CRLF',
      'extensions:\r\n  a: 1\r\nB: 2\r\n',
      `extensions:\n  a: 1\n${block}B: 2\n`.replaceAll('\n', '\r\n'),
    ],
    [
      'a text of several lines at the end',
      'extensions:\n  a:\n    d: |\n      x\n\n      y\n',
      `extensions:\n  a:\n    d: |\n      x\n\n      y\n${block}`,
    ],
  ])('%s', (name, before, after) => {
    expect(set(yaml, before, path, value)).toBe(after)
    const back = remove(yaml, after, path)
    if (/^(an empty file|no extensions)$/.test(name)) expect(back).toContain('extensions: {}')
    else expect(back).toBe(before)
  })

  test('an object in braces is extended', () => {
    const before = 'extensions: {a: {x: 1}}\n'
    const after = set(yaml, before, path, value)
    expect(after).toBe('extensions: {a: {x: 1}, "ours":{"type":"stdio","args":["-y"],"envs":{}}}\n')
    expect(remove(yaml, after, path)).toBe(before)
  })

  test('values are changed', () => {
    const before = `extensions:\n${block}  b: 1\n`
    expect(set(yaml, before, [...path, 'args'], ['a', 'b'])).toBe(
      'extensions:\n  ours:\n    type: stdio\n    args: ["a","b"]\n    envs: {}\n  b: 1\n',
    )
  })

  test.each([
    ['a: 1\nb: [1\n', /\bYAML$/, 3, 1],
    ['a: 1\n---\nb: 2\n', /\bdocuments\b/, 2, 1],
    ['- 1\n', /\bone object\b/, 1, 1],
    ['extensions:\n  - 1\n', /\bobject\b/, 2, 3],
    ['a: 1\na: 2\n', /\bYAML$/, 2, 1],
  ])('%j is refused with line and column', (text, message, line, column) => {
    expect(() => set(yaml, text, path, value)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(message), line, column }),
    )
  })
})
