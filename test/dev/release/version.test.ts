import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import packageJson from '../../../package.json' with { type: 'json' }
import { root } from '../../../src/dev/release/package-info.ts'

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

test('a document that names a version of the package names this one', () => {
  for (const file of files.filter((one) => one.endsWith('.md'))) {
    const named = [...textOf(file).matchAll(/\bvoice-agent-mcp@(\d[\w.-]*\w)/g)]
    for (const [whole, version] of named)
      expect(version, `${file}: ${whole}`).toBe(packageJson.version)
  }
})
