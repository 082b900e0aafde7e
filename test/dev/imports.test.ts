import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { importProblems } from '../../src/dev/imports.ts'

const root = join(import.meta.dirname, '../..')
let copy: string

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'))
  for (const name of ['src', 'tools', 'test', 'docs', 'biome.json', '.gitignore', 'package.json']) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (source) => !source.includes('node_modules'),
    })
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
    ['src/contract/field.ts', `import '../platform/client.ts'`, 'src/platform/client.ts'],
    [
      'src/platform/network-sender.ts',
      `import type {} from '../sandbox/operation-handler.ts'`,
      'src/sandbox/operation-handler.ts',
    ],
    [
      'src/sandbox/operation-handler.ts',
      `void import('../tool/run-tool-call.ts')`,
      'src/tool/run-tool-call.ts',
    ],
    ['src/tool/results/shortening.ts', `export * from '../../mcp/server.ts'`, 'src/mcp/server.ts'],
    ['src/text/dialog-text.ts', `import '../../test/harness/rpc.ts'`, 'test/harness/rpc.ts'],
    ['src/server/service.ts', `import '../cli/main.ts'`, 'src/cli/main.ts'],
    ['tools/sip-trunks/allowed-ips.ts', `import '../agents.ts'`, 'tools/agents.ts'],
  ] as const
  for (const [file, line] of forbidden) add(file, line)
  const outside = ['src/loose.ts', 'src/new-folder/deep/file.mts', 'tools/deep/file.ts']
  for (const file of outside) add(file, 'export {}')

  expect(importProblems(copy)).toEqual(
    expect.arrayContaining([
      ...forbidden.map(([file, , to]) => expect.stringContaining(`${file} → ${to}`)),
      ...outside.map((file) => expect.stringMatching(`^${file} `)),
    ]),
  )
})

test('a row without a file is reported', () => {
  rmSync(join(copy, 'src/prompts'), { recursive: true })
  expect(importProblems(copy)).toContainEqual(expect.stringMatching(/^prompts /))
})

test('circles of files are refused, also those of types alone', () => {
  add('src/contract/route.ts', `import '../text/safe-text.ts'`)
  add('src/text/safe-text.ts', `import '../contract/route.ts'`)
  add('src/text/canonical-id.ts', `import type {} from './time-zone.ts'`)
  add('src/text/time-zone.ts', `import type {} from './canonical-id.ts'`)
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const only = '--only=suspicious/noImportCycles'
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [biome, 'lint', only, 'src/contract', 'src/text'],
    { cwd: copy, encoding: 'utf8' },
  )
  expect(status).toBe(1)
  for (const file of ['contract/route', 'text/safe-text', 'text/canonical-id', 'text/time-zone']) {
    expect(stdout + stderr).toMatch(new RegExp(`src/${file}\\.ts:\\d+:\\d+ lint/.*noImportCycles`))
  }
})
