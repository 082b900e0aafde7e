import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { importProblems } from '../../../src/dev/imports/check.ts'

const root = join(import.meta.dirname, '../../..')
let copy: string

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'))
  for (const name of ['src', 'tools', 'test', 'docs', 'biome.json', '.gitignore', 'package.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  onTestFinished(() => rmSync(folder, { recursive: true }))
  copy = folder
})

function add(file: string, line: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true })
  appendFileSync(join(copy, file), `\n${line}\n`)
}

test('every import follows the table', () => {
  expect(importProblems(root)).toEqual([])
})

test('imports that the table does not allow are refused, and files in no row of it', () => {
  const forbidden = [
    ['src/contract/page.ts', `import '../api/client.ts'`, 'src/api/client.ts'],
    ['src/api/pool.ts', `import type {} from '../sandbox/page.ts'`, 'src/sandbox/page.ts'],
    ['src/sandbox/page.ts', `void import('../mcp/call/call.ts')`, 'src/mcp/call/call.ts'],
    [
      'src/views/compact-json.ts',
      `export * from '../calls/poll-interval.ts'`,
      'src/calls/poll-interval.ts',
    ],
    ['src/text/dialog-text.ts', `import '../../test/harness/rpc.ts'`, 'test/harness/rpc.ts'],
    ['src/service/service.ts', `import '../cli/main.ts'`, 'src/cli/main.ts'],
    ['tools/usage.ts', `import './calls.ts'`, 'tools/calls.ts'],
  ] as const
  for (const [file, line] of forbidden) add(file, line)
  const outside = ['src/loose.ts', 'src/new-room/deep/file.mts', 'tools/deep/file.ts']
  for (const file of outside) add(file, 'export {}')

  expect(importProblems(copy)).toEqual(
    expect.arrayContaining([
      ...forbidden.map(([file, , to]) => `${file} → ${to}: the table does not allow this import`),
      ...outside.map((file) => `${file} is in no row of the table`),
    ]),
  )
})

test('files that fallow does not read are refused', () => {
  writeFileSync(join(copy, '.gitignore'), 'src/views\n')
  spawnSync('git', ['init', '--quiet'], { cwd: copy })
  expect(importProblems(copy)).toEqual(
    expect.arrayContaining([
      'views has no file',
      expect.stringMatching(/^fallow has read \d+ of \d+ files$/),
    ]),
  )
})

test('circles of files are refused, also those of types alone', () => {
  add('src/contract/query.ts', `import '../text/plain-text.ts'`)
  add('src/text/plain-text.ts', `import '../contract/query.ts'`)
  add('src/json/bounds.ts', `import type {} from './unique-keys.ts'`)
  add('src/json/unique-keys.ts', `import type {} from './bounds.ts'`)
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const only = '--only=suspicious/noImportCycles'
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [biome, 'lint', only, 'src/contract', 'src/text', 'src/json'],
    { cwd: copy, encoding: 'utf8' },
  )
  expect(status).toBe(1)
  for (const file of ['contract/query', 'text/plain-text', 'json/bounds', 'json/unique-keys']) {
    expect(stdout + stderr).toMatch(new RegExp(`src/${file}\\.ts:\\d+:\\d+ lint/.*noImportCycles`))
  }
})
