import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newAgent } from '../harness/every-tool.ts'
import { scratchFolder, startProcess, startProgram } from '../harness/program.ts'
import { rpc } from '../harness/rpc.ts'
import { argumentsOf, imageCommand, imageEnvironment, imageStage, imageText } from './dockerfile.ts'
import { read, root } from './documents.ts'

test('the image sets the low-memory options of docs/deployment.md', () => {
  const { NODE_OPTIONS, MALLOC_ARENA_MAX } = imageEnvironment()
  expect(read('docs/deployment.md')).toContain(
    `MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX} NODE_OPTIONS="${NODE_OPTIONS}" \\\n`,
  )
})

test('the command of the image serves, and the health check uses a path that it serves', async () => {
  using folder = scratchFolder()
  expect(argumentsOf('ENTRYPOINT')).toEqual(['node', 'dist/voice-agent-mcp.js'])
  await using program = startProgram(imageCommand(), imageEnvironment(folder.path))
  const [, port] = await program.waitFor(/Serving MCP at http:\/\/[^:]+:(\d+)/)
  const [, path] = /127\.0\.0\.1:3000(\/\w+)/.exec(imageText('HEALTHCHECK')) ?? []
  expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(200)
})

/** Paths of the built program that the image copies from the build stage. */
const builtPaths = imageStage.flatMap(
  ({ text }) => /^--from=build \/app\/(\S+) /.exec(text)?.[1] ?? [],
)

test('the files of the image suffice to serve, and only /data is written to', async () => {
  using folder = scratchFolder()
  for (const path of builtPaths) {
    cpSync(join(root, path), join(folder.path, 'app', path), { recursive: true })
  }
  const data = join(folder.path, 'data')
  mkdirSync(data)
  const env = { ...imageEnvironment(data), HOME: folder.path }
  const [, file = ''] = argumentsOf('ENTRYPOINT')
  // As on a read-only file system, writing to any other path fails.
  const confined = ['--permission', '--allow-fs-read=*', `--allow-fs-write=${data}`]
  const command = [process.execPath, ...confined, join(folder.path, 'app', file), ...imageCommand()]
  await using program = startProcess(command, env)
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
