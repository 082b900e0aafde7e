import { expect, test } from 'vitest'
import { viewNames } from '../../../src/apps/views.ts'
import { faultOf, maxBytes } from '../../../src/dev/release/npm-package.ts'

const paths = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'SECURITY.md',
  'dist/voice-agent-mcp.js',
  'dist/parts/state-ABC.js',
  'dist/THIRD-PARTY-LICENSES.txt',
  ...viewNames.map((name) => `dist/apps/${name}.html.br`),
  'docs/install.md',
]
const packed = (files: readonly string[], unpackedSize = 3_700_000) => ({
  filename: 'voice-agent-mcp-0.1.0.tgz',
  unpackedSize,
  files: files.map((path) => ({ path })),
})

test('the package holds what is needed, and no more', () => {
  expect(faultOf(packed(paths))).toBeUndefined()
  expect(faultOf(packed(paths.filter((path) => path !== 'LICENSE')))).toContain('lacks LICENSE')
  const withoutView = paths.filter((path) => path !== 'dist/apps/usage.html.br')
  expect(faultOf(packed(withoutView))).toContain('lacks dist/apps/usage.html.br')
  for (const more of [
    '.env',
    'src/bin.ts',
    'dist/voice-agent-mcp.js.map',
    'dist/a.tgz',
    'a.db',
    'test/a.json',
  ]) {
    expect(faultOf(packed([...paths, more])), more).toBe(`The package holds ${more}.`)
  }
  expect(faultOf(packed(paths, maxBytes + 1))).toContain(`${maxBytes + 1} bytes`)
})
