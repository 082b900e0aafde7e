import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { readPackage, repositoryAt, root } from '../../../src/dev/release/package-info.ts'
import { changes, repositorySet, tag, workingTree } from '../../../src/dev/release/preconditions.ts'
import { runSteps } from '../../../src/dev/release/steps.ts'

const info = readPackage(root)

test.each([
  ['## 1.2.3\n\n- Something.\n', 'done'],
  ['# Changelog\n\n## Unreleased\n\n- Next.\n\n## [1.2.3] - 2026-11-22\n\n### Added\n', 'done'],
  ['## 1.2.3 (2026-11-22)\n- Something.\n\n## 1.2.2\n', 'done'],
  ['## Unreleased\n\n- Something.\n', 'open'],
  ['## 1.2.30\n\n- Something.\n', 'open'],
  ['## 1.2.3-beta.1\n\n- Something.\n', 'open'],
  ['## 1.2.3\n\n## 1.2.2\n\n- Something.\n', 'open'],
])('the changelog %j: %s', (changelog, state) => {
  expect(changes('1.2.3', changelog).state).toBe(state)
})

test('uncommitted files are named', () => {
  expect(workingTree('').state).toBe('done')
  expect(workingTree(' M README.md')).toEqual({
    state: 'open',
    text: expect.stringContaining('README.md'),
  })
})

test('a version that has a tag on another commit cannot be released', () => {
  const tags = 'v1.2.2 aaa \nv1.2.3 bbb ccc\nv1.2.30 ddd '
  expect(tag('1.2.4', 'ccc', tags).state).toBe('done')
  expect(tag('1.2.3', 'ccc', tags)).toEqual({ state: 'done', text: 'v1.2.3 is this commit' })
  expect(tag('1.2.3', 'ddd', tags).state).toBe('open')
  expect(tag('1.2.3', 'ddd', '').state).toBe('done')
})

test('the URL of the repository and the name in the registry are required', () => {
  const repository = repositoryAt('git+https://github.com/owner/repository.git')
  const mcpName = 'io.github.owner/voice-agent-mcp'
  expect(repositorySet({ ...info, repository: undefined, mcpName: undefined }).state).toBe('open')
  expect(repositorySet({ ...info, repository, mcpName: undefined }).state).toBe('open')
  const { state, text } = repositorySet({ ...info, repository, mcpName })
  expect([state, text]).toEqual(['done', expect.not.stringContaining('no bundle')])
  const elsewhere = repositoryAt('https://code.your-company.example/owner/repository')
  expect(repositorySet({ ...info, repository: elsewhere, mcpName }).text).toContain('no bundle')
})

test('each step is printed, and no step runs after a failure', async () => {
  let text = ''
  const results = await runSteps(
    [
      { title: 'First', run: () => ({ state: 'done', text: 'yes' }) },
      { title: 'Second', run: async () => ({ state: 'open', text: 'a\nb' }) },
      { title: 'Third', run: () => Promise.reject(new Error('broken')) },
      { title: 'Fourth', run: () => ({ state: 'done', text: 'yes' }) },
    ],
    (line) => {
      text += stripVTControlCharacters(line)
    },
  )
  expect(results).toEqual(['done', 'open', 'failed'])
  expect(text).toBe('✓ First: yes\n! Second: a\n  b\n✗ Third: broken\n')
})
