import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  downloadUrl,
  readPackage,
  root,
  setRepository,
} from '../../../src/dev/release/package-info.ts'
import { serverJson } from '../../../src/dev/release/server-json.ts'
import { scratchFolder } from '../../harness/program.ts'

/** A folder with a copy of package.json. */
function folderWithPackage() {
  const folder = scratchFolder()
  cpSync(join(root, 'package.json'), join(folder.path, 'package.json'))
  return folder
}
const textIn = (folder: string) => readFileSync(join(folder, 'package.json'), 'utf8')

test('package.json names no repository that does not exist, or all that follows from one', () => {
  const { repository, mcpName } = readPackage(root)
  expect(repository === undefined).toBe(mcpName === undefined)
})

test.each([
  'https://github.com/Owner/repository',
  'https://github.com/Owner/repository/',
  'git+https://github.com/Owner/repository.git',
])('%s sets all that follows from it, and nothing else', (address) => {
  using folder = folderWithPackage()
  setRepository(folder.path, address)
  const before = JSON.parse(textIn(root))
  const after = JSON.parse(textIn(folder.path))
  expect(after).toEqual({
    ...before,
    mcpName: 'io.github.Owner/voice-agent-mcp',
    repository: { type: 'git', url: 'git+https://github.com/Owner/repository.git' },
    homepage: 'https://github.com/Owner/repository#readme',
    bugs: 'https://github.com/Owner/repository/issues',
  })
  const others = (names: string[]) => names.filter((name) => Object.hasOwn(before, name))
  expect(others(Object.keys(after))).toEqual(Object.keys(before))
  const info = readPackage(folder.path)
  expect(serverJson(info, undefined).name).toBe(after.mcpName)
  expect(downloadUrl(info, 'a.mcpb')).toBe(
    `https://github.com/Owner/repository/releases/download/v${info.version}/a.mcpb`,
  )
  const once = textIn(folder.path)
  setRepository(folder.path, address)
  expect(textIn(folder.path)).toBe(once)
})

test('elsewhere than on GitHub the name in the registry is given', () => {
  using folder = folderWithPackage()
  const address = 'https://gitlab.com/group/sub/repository.git'
  expect(() => setRepository(folder.path, address)).toThrow('--mcp-name')
  expect(() => setRepository(folder.path, address, 'no-slash')).toThrow('no-slash')
  expect(textIn(folder.path)).toBe(textIn(root))
  setRepository(folder.path, address, 'com.your-company/voice-agent-mcp')
  const info = readPackage(folder.path)
  expect(info).toMatchObject({
    mcpName: 'com.your-company/voice-agent-mcp',
    repository: { url: 'https://gitlab.com/group/sub/repository', source: 'gitlab' },
  })
  expect(downloadUrl(info, 'a.mcpb')).toContain('/-/releases/')
})

test.each([
  'http://github.com/owner/repository',
  'git@github.com:owner/repository.git',
  'https://user:secret@github.com/owner/repository',
  'https://github.com/owner',
  'github.com/owner/repository',
])('%s is refused', (address) => {
  using folder = folderWithPackage()
  expect(() => setRepository(folder.path, address)).toThrow(address)
  expect(textIn(folder.path)).toBe(textIn(root))
})
