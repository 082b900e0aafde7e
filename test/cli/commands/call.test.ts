import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  bin,
  scratchFolder,
  startInShell,
  startProcess,
  startProgram,
} from '../../harness/program.ts'
import { startRunningCallsPlatform } from '../../harness/running-calls-platform.ts'

const folder = scratchFolder()
afterAll(() => folder[Symbol.dispose]())

const state = {
  VOICE_AGENT_STATE_DIR: folder.path,
  VOICE_AGENT_SANDBOX_DB: join(folder.path, 'sandbox.db'),
  VOICE_AGENT_SANDBOX_SPEED: '1000',
}

/** Runs the built program to its end, without a terminal. */
async function run(args: string[], env: Record<string, string> = {}, input = '') {
  await using program = startProgram(args, { ...state, ...env })
  program.process.stdin.end(input)
  const code = await program.exited
  const stderr = program.stderr().replace(/^voice-agent-mcp: SANDBOX: .*\n/, '')
  return { code, stdout: program.stdout(), stderr }
}

const json = (text: string): Record<string, unknown> => JSON.parse(text)

let agent: string
beforeAll(async () => {
  const made = await run([
    ...['call', 'create_agent', '--json', '--name', 'Shop', '--tags', 'x,y'],
    ...['--model.provider', 'openai', '--model.model', 'gpt-4.1'],
    ...['--transcriber.provider', 'deepgram', '--transcriber.model', 'nova-2:general'],
    ...['--voice.provider', 'elevenlabs', '--voice.voice-id', 'sbx-en-us-ada'],
  ])
  expect(made).toMatchObject({ code: 0, stderr: '' })
  agent = String(json(made.stdout).id)
})

describe('call', () => {
  test('shows a list as a table and as JSON, from what an earlier command has made', async () => {
    const { code, stdout } = await run(['call', 'list-agents', '--name', 'Shop'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^id +name +tags +model\.model +is_archived\n/)
    expect(stdout).toContain(`${agent}  Shop  x, y  gpt-4.1`)
    const asJson = await run(['call', 'list_agents', '--name', 'Shop', '--json'])
    expect(json(asJson.stdout)).toMatchObject({ returned: 1, items: [{ id: agent }] })
  })

  test('says once on standard error that nothing is real', async () => {
    await using program = startProgram(['call', 'list_agents'], state)
    program.process.stdin.end()
    await program.exited
    expect(program.stderr()).toMatch(/^voice-agent-mcp: SANDBOX: .*sandbox\.db\..*\n$/)
  })

  test('takes names, files and standard input', async () => {
    const greeting = join(folder.path, 'greeting.txt')
    writeFileSync(greeting, 'Hello,\n{{ contact.first_name }}!')
    const update = ['update_agent', '--agent-id', 'Shop']
    const changed = await run(['call', ...update, `--initial-message.message:@${greeting}`])
    expect(changed.code).toBe(0)
    const shown = await run(['call', 'get_agent', '--args', '-'], {}, '{"agent_id":"Shop"}')
    expect(shown.stdout).toContain(
      'initial_message:\n  message:\n    | Hello,\n    | {{ contact.first_name }}!\n',
    )
  })

  test.each<[string, string[], number, RegExp]>([
    ['an unknown tool', ['get_agnt'], 2, /get_agnt\..* get_agent\?/],
    ['no tool', [], 2, /voice-agent-mcp\.js tools/],
    ['an unknown argument', ['list_agents', '--lmit', '1'], 2, /--lmit\..* --limit\?[\s\S]*Usage:/],
    ['a missing argument', ['get_agent'], 2, /agent_id: required[\s\S]*Usage: .*--agent-id TEXT/],
    ['a wrong value', ['list_agents', '--limit', 'ten'], 2, /limit: /],
    ['a misspelt status', ['list_calls', '--status', 'faild'], 2, /status: .*faild.* failed\?/],
    ['an unknown setting', ['--bogus', 'list_agents'], 2, /--bogus/],
    [
      'nothing found',
      ['get_agent', '--agent-id', agentThatIsNot],
      1,
      /not_found[\s\S]*list_agents/,
    ],
    ['a hidden tool', ['--read-only', 'archive_agent', '--agent-id', 'x'], 3, /--read-only/],
    ['a file that is not there', ['list_agents', '--args', '@/no/file'], 2, /\/no\/file/],
  ])('ends with a message and an exit code for %s', async (_, words, code, message) => {
    const ended = await run(['call', ...words])
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' })
    expect(ended.stderr).toMatch(message)
  })

  test('gives an error as data to programs', async () => {
    const { code, stdout } = await run([
      'call',
      'get_agent',
      '--agent-id',
      agentThatIsNot,
      '--json',
    ])
    expect(code).toBe(1)
    expect(json(stdout)).toMatchObject({ error: { kind: 'rejected', status: 404 } })
  })

  test('is not stopped by a reader that goes away', async () => {
    await using program = startInShell(
      `"$0" "$@" | head -n 1; exit 0`,
      ['call', 'list_voices', '--limit', '100'],
      state,
    )
    expect(await program.exited).toBe(0)
    expect(program.stderr()).not.toMatch(/EPIPE|Error/)
  })
})

test('a call of a tool that is not exposed is in the audit trail, as one of the command line', async () => {
  await run(['call', '--read-only', 'archive_agent', '--agent-id', agent])
  const { stdout } = await run(['audit', '--json', '--tool', 'archive_agent'])
  expect(json(stdout.split('\n')[0] ?? '')).toMatchObject({
    ...{ outcome: 'refused', reason: 'not_exposed', transport: 'terminal' },
    client: { name: 'voice-agent-mcp call' },
  })
})

test('SIGINT while the platform has not answered says that the call may have been placed', async () => {
  await using platform = await startRunningCallsPlatform({ answerMs: 10_000 })
  await using program = startProgram(
    [
      ...[
        'call',
        '--confirm',
        'never',
        'place_call',
        '--type',
        'phone',
        '--agent-id',
        platform.agent.id,
      ],
      ...['--from-number', '+12025550110', '--to-number', '+12025550100', '--json'],
    ],
    { ...platform.env, VOICE_AGENT_STATE_DIR: ':memory:' },
  )
  program.process.stdin.end()
  await expect.poll(() => platform.dialled.length).toBe(1)
  program.process.kill('SIGINT')
  expect(await program.exited).toBe(4)
  expect(json(program.stdout())).toMatchObject({ error: { kind: 'unknown_outcome' } })
})

test('SIGINT ends it while it waits for arguments on standard input', async () => {
  await using program = startProgram(['call', 'list_agents', '--args', '-'], state)
  // More than a pipe's buffer: everything is written once the program reads.
  const { stdin } = program.process
  await new Promise((resolve) => stdin.write(' '.repeat(2 ** 22), resolve))
  program.process.kill('SIGINT')
  expect(await program.exited).toBe(130)
  expect(program.stdout()).toBe('')
})

// `script` of util-linux gives the program a pseudo-terminal; other systems lack it.
const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
describe.runIf(hasScript)('at a real terminal', { timeout: 90_000 }, () => {
  const startThere = (args: string[]) => {
    const command = [process.execPath, bin, ...args].map((word) => `'${word}'`).join(' ')
    return startProcess(['script', '-qec', command, '/dev/null'], { ...state, TERM: 'xterm' })
  }
  /** Runs the program in a pseudo-terminal. Types `types` when it asks a question. */
  async function atTerminal(args: string[], types: string) {
    await using program = startThere(args)
    if (types) {
      await expect.poll(program.stdout, { timeout: 30_000 }).toContain('[y/N]')
      program.process.stdin.write(types)
    }
    return { code: await program.exited, screen: program.stdout() }
  }
  const call = (externalId: string) => [
    ...['call', '--confirm', 'person', 'place_call', '--type', 'phone', '--agent-id', agent],
    ...['--from-number', '+12025550110', '--to-number', '+12025550100'],
    ...['--external-id', externalId],
  ]

  test('the person is asked, and a yes places the call', async () => {
    const { code, screen } = await atTerminal(call('t1'), 'y\r')
    expect(code).toBe(0)
    expect(screen).toMatch(
      /Call \+12025550100\?[\s\S]*Go ahead\? \[y\/N\][\s\S]*Placed[\s\S]*"external_id":"t1"/,
    )
  })

  test('a no does nothing, and Ctrl+C at the question ends it', async () => {
    expect(await atTerminal(call('t2'), 'n\r')).toMatchObject({ code: 3 })
    expect(await atTerminal(call('t2'), '\u0003')).toMatchObject({ code: 130 })
  })

  test('nobody is asked whose typed arguments have ended the input', async () => {
    await using program = startThere(['call', 'place_call', '--args', '-'])
    const typed = {
      ...{ type: 'phone', agent_id: agent, external_id: 't3' },
      ...{ from_number: '+12025550110', to_number: '+12025550100' },
    }
    program.process.stdin.write(`${JSON.stringify(typed)}\r\u0004`)
    expect(await program.exited).toBe(3)
    expect(program.stdout()).toMatch(/--confirm-token \S+/)
  })

  test('the head of a table is bold, unless NO_COLOR is set', async () => {
    onTestFinished(() => void vi.unstubAllEnvs())
    // Node.js disables colours if these variables are set, as most CI systems do.
    for (const name of ['NO_COLOR', 'CI']) vi.stubEnv(name, undefined)
    expect((await atTerminal(['call', 'list_agents'], '')).screen).toContain('\u001b[1m')
    vi.stubEnv('NO_COLOR', '1')
    expect((await atTerminal(['call', 'list_agents'], '')).screen).not.toContain('\u001b[1m')
  })
})

const agentThatIsNot = '00000000-0000-4000-8002-999999999999'

describe('without a terminal, what needs an agreement', () => {
  const call = () => [
    ...['place_call', '--type', 'phone', '--agent-id', agent],
    ...['--from-number', '+12025550110', '--to-number', '+12025550100'],
  ]

  test('is shown first, and done with the token of that', async () => {
    const asked = await run(['call', ...call()])
    expect(asked).toMatchObject({ code: 3, stdout: '' })
    expect(asked.stderr).toMatch(/\+12025550100[\s\S]*--confirm-token/)
    const [, token = ''] = /--confirm-token (\S+)/.exec(asked.stderr) ?? []
    const other = await run(['call', ...call(), '--confirm-token', `${token}x`])
    expect(other.code).toBe(3)
    const placed = await run(['call', ...call(), '--confirm-token', token, '--json'])
    expect(placed.code).toBe(0)
    const { id } = json(placed.stdout)
    const again = json((await run(['call', ...call(), '--json'])).stdout)
    expect(again).toMatchObject({ id, repeated: true })
    const ended = await run(['call', 'wait_for_call', '--call-id', String(id), '--json'])
    expect(ended.code).toBe(0)
    expect(json(ended.stdout)).toMatchObject({ id, status: 'completed' })
  })

  test('a call that goes on is waited for to its end', async () => {
    // Slow enough that the call is still running when the wait begins.
    const slow = { VOICE_AGENT_SANDBOX_SPEED: '10' }
    const placing = ['call', '--confirm', 'never', ...call(), '--external-id', 'slow', '--json']
    const { id } = json((await run(placing, slow)).stdout)
    const ended = await run(['call', 'wait_for_call', '--call-id', String(id), '--json'], slow)
    expect(ended.code).toBe(0)
    expect(json(ended.stdout)).toMatchObject({ id, status: 'completed' })
  })

  test('is refused where the policy wants a person, also with a token', async () => {
    const words = ['--confirm', 'person', ...call(), '--external-id', 'p1', '--json']
    const refused = await run(['call', ...words, '--confirm-token', 'x'])
    expect(refused.code).toBe(3)
    expect(json(refused.stdout)).toMatchObject({ error: { kind: 'needs_person' } })
  })

  test('keeps to the dial policy, with its own exit code', async () => {
    const policy = '{"allow_countries":["DE"]}'
    const words = ['--confirm', 'never', '--dial-policy', policy, ...call(), '--external-id', 'p2']
    const refused = await run(['call', ...words])
    expect(refused.code).toBe(3)
    expect(refused.stderr).toMatch(/policy/)
  })
})
