import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { replaceModules } from '../../src/dev/build.ts'
import { scratchFolder } from '../harness/program.ts'

/** Bundles an entry that imports `data.ts`. Nothing imports `alone.ts`. */
async function bundled(contents: Record<string, string>): Promise<string> {
  using folder = scratchFolder()
  const { path } = folder
  writeFileSync(join(path, 'entry.ts'), `import { data } from './data.ts'\nconsole.log(data)`)
  writeFileSync(join(path, 'data.ts'), `export const data = 'computed'`)
  writeFileSync(join(path, 'alone.ts'), `export const alone = 1`)
  const { outputFiles } = await build({
    absWorkingDir: path,
    entryPoints: ['entry.ts'],
    bundle: true,
    write: false,
    logLevel: 'silent',
    plugins: [replaceModules(path, contents)],
  })
  return outputFiles.map(({ text }) => text).join('')
}

test('a module is replaced', async () => {
  const text = await bundled({ 'data.ts': `export const data = 'built'` })
  expect(text).toContain('built')
  expect(text).not.toContain('computed')
})

test('the build fails when a module to be replaced does not exist', async () => {
  const contents = { 'data.ts': 'export const data = 1', 'moved.ts': '' }
  await expect(bundled(contents)).rejects.toThrow('moved.ts')
})

test('the build fails when nothing imports a module to be replaced', async () => {
  const contents = { 'data.ts': 'export const data = 1', 'alone.ts': '' }
  await expect(bundled(contents)).rejects.toThrow('alone.ts')
})
