import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import packageJson from '../../../package.json' with { type: 'json' }
import {
  downloadUrl,
  readPackage,
  repositoryAt,
  root,
} from '../../../src/dev/release/package-info.ts'
import { serverJson } from '../../../src/dev/release/server-json.ts'
import { scratchFolder } from '../../harness/program.ts'

const textIn = (folder: string) => readFileSync(join(folder, 'package.json'), 'utf8')

test('package.json has both the repository and the name in the registry, or neither', () => {
  const { repository, mcpName } = readPackage(root)
  expect(repository === undefined).toBe(mcpName === undefined)
})

test.skipIf(process.platform === 'win32')(
  'the commands of docs/releasing.md set all fields that a release needs, and no others',
  () => {
    using folder = scratchFolder()
    cpSync(join(root, 'package.json'), join(folder.path, 'package.json'))
    const guide = readFileSync(join(root, 'docs/releasing.md'), 'utf8')
    const [, commands = ''] = /^```shell\n(repository=[\s\S]*?)^```/m.exec(guide) ?? []
    execFileSync('/bin/sh', ['-ec', commands], { cwd: folder.path })
    const url = 'https://code.your-company.example/owner/voice-agent-mcp'
    expect(JSON.parse(textIn(folder.path))).toEqual({
      ...JSON.parse(textIn(root)),
      mcpName: 'com.your-company/voice-agent-mcp',
      repository: { type: 'git', url: `git+${url}.git` },
      homepage: `${url}#readme`,
      bugs: { url: `${url}/issues` },
    })
    const info = readPackage(folder.path)
    expect(serverJson(info, undefined).name).toBe(info.mcpName)
  },
)

test.each([
  ['https://github.com/Owner/repository/', 'https://github.com/Owner/repository', 'github'],
  [
    'https://gitlab.com/group/sub/repository.git',
    'https://gitlab.com/group/sub/repository',
    'gitlab',
  ],
  ['https://code.your-company.example/o/r', 'https://code.your-company.example/o/r', undefined],
])('%s is a repository', (address, url, source) => {
  expect(repositoryAt(address)).toEqual({ url, source })
})

test.each([
  ['https://github.com/Owner/repository', '/repository/releases/download/v1.2.3/a.mcpb'],
  ['https://gitlab.com/group/sub/repository.git', '/repository/-/releases/v1.2.3/downloads/a.mcpb'],
])('releases of %s are in a place of their own', (address, end) => {
  const info = { ...readPackage(root), version: '1.2.3', repository: repositoryAt(address) }
  expect(downloadUrl(info, 'a.mcpb')).toMatch(new RegExp(`${end}$`))
})

test.each([
  'http://github.com/owner/repository',
  'git@github.com:owner/repository.git',
  'https://user:secret@github.com/owner/repository',
  'https://github.com/owner',
  'github.com/owner/repository',
])('%s is refused', (address) => {
  expect(() => repositoryAt(address)).toThrow(address)
})

/** Files of the repository, including uncommitted ones. */
const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => /\.(?:json|md)$/.test(file))
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')

const Named = z.object({ name: z.literal(packageJson.name), version: z.string() })

test('every manifest of this package has the version of package.json', () => {
  const versions = files
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      const { data } = Named.safeParse(JSON.parse(textOf(file)))
      return data ? [[file, data.version]] : []
    })
  expect(versions.map(([file]) => file)).toEqual(
    expect.arrayContaining(['package.json', 'package-lock.json']),
  )
  expect(Object.fromEntries(versions)).toEqual(
    Object.fromEntries(versions.map(([file]) => [file, packageJson.version])),
  )
})

test('a document that names a version of the package names the current version', () => {
  for (const file of files.filter((one) => one.endsWith('.md'))) {
    const named = [...textOf(file).matchAll(/\bvoice-agent-mcp@(\d[\w.-]*\w)/g)]
    for (const [whole, version] of named)
      expect(version, `${file}: ${whole}`).toBe(packageJson.version)
  }
})
