import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { jsonLog } from '../harness/json-log.ts'
import {
  type Program,
  quietly,
  scratchFolder,
  startHttpProgram,
  startPlatformProgram,
  startProgram,
} from '../harness/program.ts'

const env = { ...quietly, VOICE_AGENT_SANDBOX_DB: ':memory:' }

/** Message of the only line that a program logs when it fails to start. */
async function failure(program: Program, code = 1) {
  expect(await program.exited).toBe(code)
  const lines = jsonLog(program.stderr())
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ level: 'error' })
  return lines[0]?.message
}

/** Preloads a script that the program runs on SIGUSR2. */
const onSignal = (script: string) => [
  '--import',
  `data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${script} })`)}`,
]

describe('with --log json, an error at the start is one JSON line', () => {
  test.each([
    [2, 'an unknown flag', ['--log', 'json', '--nonsense'], {}, /--nonsense/],
    [2, 'an unknown flag before', ['--nonsense', '--log=json'], {}, /--nonsense/],
    [1, 'a wrong value', ['http'], { VOICE_AGENT_LOG: ' json ', VOICE_AGENT_PORT: 'x' }, /PORT/],
    [1, 'a level that does not exist', ['--log', 'json', '--log-level', 'loud'], {}, /log-level/],
    [2, 'a command that does not exist', ['nonsense', '--log', 'json'], {}, /no command nonsense/],
    [
      1,
      'a file of faults that is not there',
      ['sandbox', '--port', '0'],
      inJsonWithFaults(),
      /faults/,
    ],
  ])('%i: %s', async (code, _, args, more, message) => {
    await using program = startProgram(args, { ...env, ...more })
    expect(await failure(program, code)).toMatch(message)
  })

  test('also where the configuration file asks for it', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'config.json')
    writeFileSync(file, '{"log": "json", "nonsense": 1}')
    await using program = startProgram(['http', '--config', file], env)
    expect(await failure(program)).toMatch(/no setting "nonsense"/)
  })

  test('of a port that is in use', async () => {
    await using other = await startHttpProgram()
    const { port } = new URL(other.url)
    for (const command of ['http', 'sandbox']) {
      await using program = startProgram([command, '--port', port, '--log', 'json'], env)
      expect(await failure(program)).toMatch(/is in use/)
    }
  })
})

function inJsonWithFaults(): Record<string, string> {
  return { VOICE_AGENT_LOG: 'json', VOICE_AGENT_SANDBOX_FAULTS: '/nowhere/faults.json' }
}

test('without a log, an error at the start is still told', async () => {
  await using program = startProgram(['http', '--log', 'off', '--port', '99999'], env)
  expect(await program.exited).toBe(1)
  expect(program.stderr()).toMatch(/^voice-agent-mcp: --port/)
})

// Windows delivers no signals.
describe.skipIf(process.platform === 'win32')(
  'with --log json, what Node.js reports is JSON',
  () => {
    test('a warning', async () => {
      const nodeOptions = onSignal('process.emitWarning("take care")')
      await using program = await startHttpProgram({ VOICE_AGENT_LOG: 'json' }, [], nodeOptions)
      program.process.kill('SIGUSR2')
      await program.waitFor(/take care/)
      expect(jsonLog(program.stderr()).at(-1)).toMatchObject({
        level: 'warn',
        message: 'Warning: take care',
      })
    })

    test('an error that nothing has caught, which ends the program', async () => {
      const nodeOptions = onSignal('throw new Error("unforeseen")')
      await using program = await startHttpProgram({ VOICE_AGENT_LOG: 'json' }, [], nodeOptions)
      program.process.kill('SIGUSR2')
      expect(await program.exited).toBe(1)
      expect(jsonLog(program.stderr()).at(-1)).toMatchObject({
        level: 'error',
        message: expect.stringMatching(/^Error: unforeseen\n +at /),
      })
    })
  },
)

describe('the log of the sandbox', () => {
  test('in JSON has a line for each answer, without its query', async () => {
    await using platform = await startPlatformProgram({ VOICE_AGENT_LOG: 'json' })
    const ask = (path: string, key: string) =>
      fetch(new URL(path, platform.url), { headers: { 'x-api-key': key } })
    expect((await ask('/v1/accounts?limit=1', 'sandbox-key')).status).toBe(404)
    expect((await ask('/v1/accounts/me', 'secret-key')).status).toBe(401)
    await platform.waitFor(/ 401, /)
    const lines = jsonLog(platform.stderr())
    expect(lines.filter(({ level }) => level === 'info').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^GET \/v1\/accounts 404, [\d.]+ ms$/),
      expect.stringMatching(/^GET \/v1\/accounts\/me 401, [\d.]+ ms$/),
    ])
    expect(platform.stderr()).not.toMatch(/secret-key/)
  })

  test('by default has no line for an answer', async () => {
    await using platform = await startPlatformProgram()
    await fetch(new URL('/v1/accounts', platform.url))
    platform.process.kill('SIGTERM')
    expect(await platform.exited).toBe(0)
    expect(platform.stderr()).not.toMatch(/GET/)
  })
})
