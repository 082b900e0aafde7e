import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchFolder, startProgram } from '../harness/program.ts'

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
