import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchFolder, startProcess, startProgram } from '../harness/program.ts'
import { rpc } from '../harness/rpc.ts'
import { newAgent } from '../harness/story.ts'

const root = join(import.meta.dirname, '../..')
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')

/** The environment that the image sets. */
function imageEnvironment(): Record<string, string> {
  const [, lines = ''] = /^ENV ((?:.*\\\n)*.*)/m.exec(dockerfile) ?? []
  return Object.fromEntries(
    [...lines.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name, quoted, bare]) => [
      name,
      quoted ?? bare ?? '',
    ]),
  )
}

/** The arguments of an instruction that is written as a JSON array. */
const argumentsOf = (instruction: string): string[] =>
  JSON.parse(new RegExp(`^${instruction} (\\[.*\\])`, 'm').exec(dockerfile)?.[1] ?? '')

test('the image sets the options for little memory that the deployment document gives', () => {
  const { NODE_OPTIONS, MALLOC_ARENA_MAX } = imageEnvironment()
  expect(readFileSync(join(root, 'docs/deployment.md'), 'utf8')).toContain(
    `MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX} NODE_OPTIONS="${NODE_OPTIONS}" \\\n`,
  )
})

test('what the image starts serves, and its health check finds it', async () => {
  using folder = scratchFolder()
  const inFolder = Object.entries(imageEnvironment()).map(([name, value]) => [
    name,
    value.replace('/data', folder.path),
  ])
  expect(argumentsOf('ENTRYPOINT')).toEqual(['node', 'dist/voice-agent-mcp.js'])
  const args = argumentsOf('CMD').map((argument) => (argument === '3000' ? '0' : argument))
  await using program = startProgram(args, Object.fromEntries(inFolder))
  const [, port] = await program.waitFor(/Serving MCP at http:\/\/[^:]+:(\d+)/)
  const [, path] = /^HEALTHCHECK .*127\.0\.0\.1:3000(\/\w+)/m.exec(dockerfile) ?? []
  expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200)
})

/** What the image holds of the built program: the paths that are copied from the stage that builds it. */
const builtPaths = [...dockerfile.matchAll(/^COPY --from=build \/app\/(\S+) /gm)].map(
  ([, path = '']) => path,
)

test('what the image holds is enough, and writes nothing outside /data', async () => {
  using folder = scratchFolder()
  for (const path of builtPaths) {
    cpSync(join(root, path), join(folder.path, 'app', path), { recursive: true })
  }
  const data = join(folder.path, 'data')
  mkdirSync(data)
  const env = Object.entries({ ...imageEnvironment(), HOME: folder.path }).map(([name, value]) => [
    name,
    value.replace('/data', data),
  ])
  const [, file = ''] = argumentsOf('ENTRYPOINT')
  const args = argumentsOf('CMD').map((argument) => (argument === '3000' ? '0' : argument))
  // As on a read-only file system, each attempt to write elsewhere fails.
  const confined = ['--permission', '--allow-fs-read=*', `--allow-fs-write=${data}`]
  const command = [process.execPath, ...confined, join(folder.path, 'app', file), ...args]
  await using program = startProcess(command, Object.fromEntries(env))
  const [, port] = await program.waitFor(/Serving MCP at http:\/\/[^:]+:(\d+)/)
  const url = `http://localhost:${port}/mcp`
  const { result } = await rpc(url, 'tools/call', { name: 'create_agent', arguments: newAgent })
  expect(result).toMatchObject({ structuredContent: { name: newAgent.name } })
  expect(readdirSync(folder.path).sort()).toEqual(['app', 'data'])
  expect(readdirSync(data)).toContain('sandbox.db')
  expect(program.stderr()).not.toMatch(/ERR_ACCESS_DENIED|EROFS/)
  program.process.kill('SIGTERM')
  expect(await program.exited).toBe(0)
})
