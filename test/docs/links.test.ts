import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { documents, read, root } from './documents.ts'

/** Text without code blocks and inline code. */
const prose = (file: string) => read(file).replaceAll(/^ *```[\s\S]*?^ *```$|`[^`\n]*`/gm, '')

/**
 * Anchors of a document's headings, as GitHub derives them: lower case, hyphens for spaces, no
 * punctuation.
 */
const anchorsOf = (file: string) =>
  [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const links = documents.flatMap((file) =>
  [...prose(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ file, target })),
)
const relative = links.filter(({ target }) => !target.startsWith('https://'))

test('documents have links', () => {
  expect(relative.length).toBeGreaterThan(50)
})

test.each(relative)('$file: the target $target exists', ({ file, target }) => {
  const [path = '', anchor] = target.split('#')
  const found = path === '' ? file : join(dirname(file), path)
  expect(existsSync(join(root, found)), found).toBe(true)
  if (anchor !== undefined) expect(anchorsOf(found)).toContain(anchor)
})

test('every document is reached from the README', () => {
  const reached = new Set(['README.md'])
  for (const file of reached) {
    for (const link of relative.filter((one) => one.file === file)) {
      const found = join(dirname(file), link.target.split('#')[0] ?? '')
      if (found.endsWith('.md')) reached.add(found)
    }
  }
  expect(documents.filter((file) => !reached.has(file) && file !== 'CHANGELOG.md')).toEqual([])
})

test('the README is short', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(150)
})

test('documents name no path of a machine, and only well-known hosts', () => {
  const editors = ['insiders.vscode.dev', 'cursor.com']
  const hosts = ['modelcontextprotocol.io', 'example', '127.0.0.1', ...editors]
  for (const file of documents) {
    expect(read(file)).not.toMatch(/\/(?:home|root|tmp|work|Users)\//)
    const named = [...read(file).matchAll(/https?:\/\/([^/\s"'`)]+)/g)].map(([, host = '']) => host)
    const others = named.filter(
      (host) => !hosts.some((one) => host.replace(/:\d+$/, '').endsWith(one)),
    )
    expect(others, file).toEqual([])
  }
})

test('a package that npx fetches is named with its version', () => {
  const examples = globSync('docs/{skills,examples}/**/*.{md,ts,py}', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
  const files = [...documents, ...examples]
  const fetched = files.flatMap((file) => [
    ...read(file).matchAll(/(?:^|`|-- )npx (?:-y )?([^\s`]+)/gm),
  ])
  expect(fetched.length).toBeGreaterThan(0)
  for (const [, fetchedPackage] of fetched) expect(fetchedPackage).toMatch(/@\d/)
})
