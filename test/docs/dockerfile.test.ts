import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { cleanEnv, scratchFolder, startProcess } from '../harness/program.ts'
import {
  argumentsOf,
  buildStage,
  type Instruction,
  imageCommand,
  imageEnvironment,
  imageStage,
  imageText,
} from './dockerfile.ts'
import { root } from './documents.ts'

/*
 * Runs the steps of the Dockerfile without a container engine: in folders instead of images, with
 * the Node.js of the tests. Skips what needs an engine or root: base images, USER and the
 * permissions of /data.
 */

/** Files of the build context: the repository without the entries of .dockerignore. */
function contextFiles(): string[] {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return listed
    .split('\0')
    .filter((file) => file !== '' && !ignored.includes(file.split('/')[0] ?? ''))
}

/** Environment with Node.js and npm, and without variables that the test run has set. */
function bareEnvironment(bin: string): Record<string, string> {
  mkdirSync(bin)
  symlinkSync(process.execPath, join(bin, 'node'))
  const paths = (process.env.PATH ?? '').split(delimiter)
  const inherited = Object.entries(cleanEnv()).filter(
    ([name]) => !/^(NODE|INIT_CWD$|npm_(?!config_)|npm_config_.*prefix)/.test(name),
  )
  return {
    ...Object.fromEntries(inherited),
    PATH: [bin, ...paths.filter((path) => !path.includes('node_modules'))].join(delimiter),
    npm_config_prefer_offline: 'true',
  }
}

/** Runs an instruction of the build stage, with `app` as the image's working folder. */
function build({ name, text }: Instruction, app: string, env: Record<string, string>): void {
  if (name === 'FROM' || name === 'WORKDIR') return
  if (name === 'RUN') {
    const { status, stderr } = spawnSync('/bin/sh', ['-ec', text], {
      cwd: app,
      env,
      encoding: 'utf8',
    })
    expect(status, `${text}\n${stderr}`).toBe(0)
    return
  }
  if (name !== 'COPY') throw new Error(`${name} is not known to this test`)
  const from = text.split(' ').slice(0, -1)
  for (const file of from[0] === '.' ? contextFiles() : from) {
    cpSync(join(root, file), join(app, file), { recursive: true })
  }
}

test('the steps of the Dockerfile build a program that passes the health check', async () => {
  using folder = scratchFolder()
  const [app, image] = [join(folder.path, 'build'), join(folder.path, 'image')]
  for (const path of [app, image]) mkdirSync(path)
  const env = bareEnvironment(join(folder.path, 'bin'))
  for (const instruction of buildStage) build(instruction, app, env)
  for (const { name, text } of imageStage) {
    if (name !== 'COPY') continue
    const [, path = ''] = /^--from=build \/app\/(\S+) /.exec(text) ?? []
    cpSync(join(app, path), join(image, path), { recursive: true })
  }
  expect(readdirSync(image).toSorted()).toEqual(['dist', 'package.json'])
  const data = join(folder.path, 'data')
  mkdirSync(data)
  const imageEnv = { ...imageEnvironment(data), PATH: env.PATH ?? '', HOME: folder.path }
  const [, file = ''] = argumentsOf('ENTRYPOINT')
  await using program = startProcess(
    [process.execPath, join(image, file), ...imageCommand()],
    imageEnv,
  )
  const [, port] = await program.waitFor(/Serving MCP at http:\/\/[^:]+:(\d+)/)
  const check = imageText('HEALTHCHECK').replace(/^CMD /, '').replace(':3000/', `:${port}/`)
  const health = () => spawnSync('/bin/sh', ['-c', check], { cwd: image, env: imageEnv }).status
  expect(health()).toBe(0)
  program.process.kill('SIGTERM')
  expect(await program.exited).toBe(0)
  expect(health()).toBe(1)
}, 300_000)
