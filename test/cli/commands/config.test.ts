import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { settings } from '../../../src/cli/commands/index.ts'
import { startProgram } from '../../harness/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'config-command-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'settings.json')
writeFileSync(file, JSON.stringify({ port: 4000, 'sandbox-speed': 5 }))

async function printed(flags: string[], env: Record<string, string> = {}) {
  await using program = startProgram(['config', ...flags], env)
  const code = await program.exited
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

const Settings = z.array(
  z.object({ name: z.string(), value: z.string().nullable(), origin: z.string() }),
)

test('the configuration in effect is printed with the origin of each value, without secrets', async () => {
  const { code, stdout } = await printed(['--config', file, '--port', '5000', '--json'], {
    VOICE_AGENT_API_KEY: 'sk-live-secret',
    VOICE_AGENT_BASE_URL: 'https://api.example.com',
  })
  expect(code).toBe(0)
  expect(stdout).not.toContain('sk-live-secret')
  const settings = Settings.parse(JSON.parse(stdout))
  const of = (wanted: string) => settings.find(({ name }) => name === wanted)
  expect(of('port')).toMatchObject({ value: '5000', origin: 'flag' })
  expect(of('sandbox-speed')).toMatchObject({ value: '5', origin: 'file' })
  expect(of('base-url')).toMatchObject({ value: 'https://api.example.com', origin: 'variable' })
  expect(of('api-key')).toMatchObject({ value: '(set, not shown)', origin: 'variable' })
  expect(of('confirm')).toMatchObject({ value: 'auto', origin: 'default' })
  expect(of('account')).toMatchObject({ value: null, origin: 'default' })
  expect(of('host')).toMatchObject({ value: '127.0.0.1', origin: 'default' })
  expect(of('log-level')).toMatchObject({ value: 'notice', origin: 'default' })
})

test('for a person it is a list of lines', async () => {
  const { code, stdout } = await printed(['--config', file])
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^port +4000 +${file.replaceAll('\\', '\\\\')}$`, 'm'))
  expect(stdout).toMatch(/^confirm +auto +default$/m)
  expect(stdout).toMatch(/^secret +made and kept .+ {2}default$/m)
  expect(stdout).toMatch(/^state-dir +(?!Default|not set).+ {2}default$/m)
  expect(stdout).toMatch(/^sandbox-db +.+\.db {2}default$/m)
  expect(stdout).toMatch(/^host +127\.0\.0\.1 +default$/m)
  expect((await printed([])).stdout).toMatch(/^port +3000 \(http\), 8080 \(sandbox\) +default$/m)
})

test('a configuration that does not work is refused as by the other commands', async () => {
  const { code, stdout, stderr } = await printed(['--timeout', 'soon'])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/--timeout \(VOICE_AGENT_TIMEOUT\) .* soon\./)
})

test('an address with a password is refused, and not repeated', async () => {
  const { code, stdout, stderr } = await printed([], {
    VOICE_AGENT_SANDBOX_LLM_URL: 'http://me:word-of-mine@127.0.0.1:9/v1',
    VOICE_AGENT_SANDBOX_LLM_MODEL: 'small',
  })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/VOICE_AGENT_SANDBOX_LLM_URL .* password/)
  expect(stderr).not.toContain('word-of-mine')
})

test('what is a secret is marked as one', () => {
  const secrets = Object.entries(settings).filter(([, { isSecret }]) => isSecret)
  const named = Object.keys(settings).filter((name) => /(key|secret|password)$/.test(name))
  // Settings that end in `per-key` are limits, not secrets.
  const expected = named.filter((name) => !name.endsWith('per-key'))
  expect(secrets.map(([name]) => name)).toEqual(expect.arrayContaining(expected))
})
