import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { exitCodes } from '../../src/cli/config/exit-codes.ts'
import { bin, scratchFolder, startProcess } from '../harness/program.ts'
import { root } from './documents.ts'

const folder = scratchFolder()
afterAll(() => folder[Symbol.dispose]())

const file = readFileSync(join(root, 'docs/skills/voice-agent/SKILL.md'), 'utf8')
const [, frontMatter = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(file) ?? []

test('the front matter follows the format of agent skills', () => {
  const FrontMatter = z.strictObject({
    name: z.literal('voice-agent'),
    description: z.string().max(1024),
    license: z.literal('MIT'),
    compatibility: z.string().max(500),
  })
  expect(() => FrontMatter.parse(parse(frontMatter))).not.toThrow()
  // Longer skills should be split into files.
  expect(body.split('\n').length).toBeLessThan(200)
})

test('the skill explains every exit code of a call that has ended', () => {
  const codes = [...body.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))
  expect(codes).toEqual(Object.values(exitCodes).filter((code) => code !== exitCodes.interrupted))
})

const Result = z.looseObject({ id: z.string().optional() })

/** Runs a command of the skill in a shell, with the built program. */
async function run(command: string, env: Record<string, string>) {
  await using program = startProcess(['/bin/sh', '-c', command], {
    VOICE_AGENT_STATE_DIR: folder.path,
    VOICE_AGENT_SANDBOX_DB: join(folder.path, 'sandbox.db'),
    VOICE_AGENT_SANDBOX_SPEED: '1000',
    PATH: `${folder.path}:${process.env.PATH}`,
    ...env,
  })
  program.process.stdin.end()
  const code = await program.exited
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

test('every command of the skill works, in its order', {
  timeout: 90_000,
}, async () => {
  writeFileSync(
    join(folder.path, 'voice-agent-mcp'),
    `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`,
    { mode: 0o755 },
  )
  const commands = [...body.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  )
  expect(commands.length).toBeGreaterThan(10)
  const env: Record<string, string> = {}
  const codes: (number | null)[] = []
  for (const command of commands) {
    const { code, stdout, stderr } = await run(command, env)
    expect([0, 3], `${command}\n${stdout}${stderr}`).toContain(code)
    codes.push(code)
    const [, token] = /--confirm-token (\S+)/.exec(stderr) ?? []
    if (token !== undefined) env.TOKEN = token
    const result = command.includes('--json') ? Result.parse(JSON.parse(stdout)) : {}
    if (command.includes('$TOKEN') && result.id !== undefined) env.CALL_ID = result.id
  }
  // Exit code 3: only the call that is not confirmed yet.
  expect(codes.filter((code) => code === 3)).toHaveLength(1)
  expect(env).toMatchObject({ TOKEN: expect.any(String), CALL_ID: expect.any(String) })
})
