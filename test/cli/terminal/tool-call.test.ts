import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { serviceConfig } from '../../../src/cli/config/service-settings.ts'
import type { Terminal } from '../../../src/cli/terminal/terminal-io.ts'
import { InterruptedError } from '../../../src/cli/terminal/terminal-io.ts'
import { runCall } from '../../../src/cli/terminal/tool-call.ts'
import { openState } from '../../../src/server/state.ts'
import { openToolService } from '../../../src/server/tool-service.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { scratchFolder } from '../../harness/program.ts'
import { startRunningCallsPlatform } from '../../harness/running-calls-platform.ts'

const folder = scratchFolder()
afterAll(() => folder[Symbol.dispose]())

const sandbox = { 'sandbox-db': ':memory:', 'state-dir': ':memory:', 'sandbox-speed': '10000' }

interface Person {
  /** The user's answer to each question; absent: there is no terminal. */
  readonly answers?: (boolean | 'Ctrl+C')[]
  /** Presses Ctrl+C during the call, once this returns true. */
  readonly interruptsWhen?: () => boolean
}

/** A terminal that records its output. */
function fakeTerminal({ answers }: Person) {
  const printed: string[] = []
  const warned: string[] = []
  const asked: string[] = []
  const status: string[] = []
  const terminal: Terminal = {
    width: 100,
    print: async (text) => void printed.push(text),
    warn: (text) => void warned.push(text),
    styled: (style, text) => `<${style}>${text}</${style}>`,
    styledWarning: (style, text) => `<${style}>${text}</${style}>`,
    confirm:
      answers &&
      (async (question) => {
        asked.push(question)
        const answer = answers.shift()
        if (answer === 'Ctrl+C') throw new InterruptedError()
        return answer ?? false
      }),
    statusLine: answers && {
      show: (text) => void status.push(text),
      clear: () => void status.push(''),
    },
    readFile: async () => '',
    readInput: async () => '',
  }
  return {
    terminal,
    asked,
    status,
    stdout: () => printed.join('\n'),
    stderr: () => warned.join('\n'),
  }
}

async function run(words: string[], texts: Record<string, string>, person: Person = {}) {
  const [tool = '', ...rest] = words
  const fake = fakeTerminal(person)
  const config = serviceConfig(texts, {}, { needsKey: true })
  const interruption = new AbortController()
  const { interruptsWhen } = person
  if (interruptsWhen)
    expect
      .poll(interruptsWhen)
      .toBe(true)
      .then(() => interruption.abort())
  const code = await runCall(
    { tool, words: rest, config },
    {
      ...{ terminal: fake.terminal, signal: interruption.signal },
      openService: () =>
        openToolService(config, {
          onBug: (error) => {
            throw error
          },
        }),
    },
  )
  return { ...fake, code, stdout: fake.stdout(), stderr: fake.stderr() }
}

const agent = '00000000-0000-4000-8002-000000000001'
const call = [
  ...['place_call', '--type', 'phone', '--agent-id', agent],
  ...['--from-number', '+12025550110', '--to-number', '+12025550100'],
]

describe('at a terminal, a person', () => {
  test('is asked with all that matters; a yes counts as that of a person, also where one is needed', async () => {
    const state = { 'state-dir': folder.path, confirm: 'person' }
    const { code, asked, stderr } = await run(call, { ...sandbox, ...state }, { answers: [true] })
    expect(code).toBe(0)
    expect(asked).toEqual(['Go ahead?'])
    expect(stderr).toMatch(/^Call \+12025550100\?\n[\s\S]*Agent: "Support line"/)
    const { audit, close } = await openState({ dir: folder.path, databaseUrl: undefined }, true)
    const [entry] = await audit.list({ limit: 1 })
    await close()
    expect(entry).toMatchObject({
      ...{ tool: 'place_call', outcome: 'done', confirmation: 'person', transport: 'terminal' },
      client: { name: 'voice-agent-mcp call' },
    })
  })

  test('who says no has nothing done', async () => {
    const { code, stdout, stderr } = await run(call, sandbox, { answers: [false] })
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr.split('\n').at(-1)).toMatchSnapshot()
  })

  test('who presses Ctrl+C at the question has nothing done', async () => {
    const { code, stderr } = await run(call, sandbox, { answers: ['Ctrl+C'] })
    expect(code).toBe(130)
    expect(stderr.split('\n').at(-1)).toMatchSnapshot()
  })

  test('is asked even with a token, and not at all with --confirm never', async () => {
    const withToken = [...call, '--confirm-token', 'x']
    expect((await run(withToken, sandbox, { answers: [false] })).asked).toHaveLength(1)
    const never = { ...sandbox, confirm: 'never' }
    const { code, asked } = await run(call, never, { answers: [] })
    expect({ code, asked }).toEqual({ code: 0, asked: [] })
  })

  test('sees how far a call is, on a line that is gone in the end', async () => {
    const { code, status, stdout } = await run(
      [...call, '--follow', '--json'],
      { ...sandbox, 'sandbox-speed': '20' },
      { answers: [true] },
    )
    expect(code).toBe(0)
    expect(status.at(-1)).toBe('')
    expect(status.join('\n')).toMatch(/^\d+ s: (?:ringing|answered)/m)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed' })
  })
})

describe('Ctrl+C', () => {
  test('while the platform has not answered says that the call may have been placed', async () => {
    await using platform = await startRunningCallsPlatform({ answerMs: 5000 })
    const texts = { 'base-url': platform.url, 'api-key': 'k', 'state-dir': ':memory:' }
    const { code, stderr, stdout } = await run(
      [...call, '--external-id', 'order-1', '--json'],
      { ...texts, confirm: 'never' },
      { interruptsWhen: () => platform.dialled.length > 0 },
    )
    expect(code).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject({ error: { kind: 'unknown_outcome' } })
    expect(stderr).toMatch(/order-1[\s\S]*list_calls/)
  })

  test('after a call was placed says so, and a loop of the shell ends', async () => {
    await using platform = await startRunningCallsPlatform()
    const texts = { 'base-url': platform.url, 'api-key': 'k', 'state-dir': ':memory:' }
    const { code, stdout } = await run(
      [...call, '--follow'],
      { ...texts, confirm: 'never' },
      { interruptsWhen: () => platform.reads('call-0') > 0 },
    )
    expect(stdout).toMatch(/call-0/)
    expect(code).toBe(130)
  })

  test('of something that only reads ends it', async () => {
    await using platform = await startFakePlatform(async (_, response) => {
      await sleep(3000)
      json(response, 200, { items: [], count: 0 })
    })
    const texts = { 'base-url': platform.url, 'api-key': 'k', 'state-dir': ':memory:' }
    const { code } = await run(['list_agents'], texts, {
      interruptsWhen: () => platform.seen.length > 0,
    })
    expect(code).toBe(130)
  })
})

test('a mistake in the words is JSON, too, where JSON is wanted', async () => {
  const { code, stdout, stderr } = await run(['list_agents', '--limt', '2', '--json'], sandbox)
  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toEqual({
    error: {
      kind: 'bad_arguments',
      tool: 'list_agents',
      fields: [],
      next: expect.stringMatching(/ --limt\..* --limit\?$/),
      retryable: false,
    },
  })
  expect(stderr).toContain(' --limit?')
  expect((await run(['list_agents', '--limt', '2'], sandbox)).stdout).toBe('')
})

test('texts of the platform have no effect on the terminal, in results, errors and JSON', async () => {
  const evil = '\u001b]0;owned\u0007\u001b[2J\u009b1m\u202e'
  await using platform = await startFakePlatform((request, response) =>
    request.url.includes('/agents/')
      ? json(response, 422, { code: 'invalid', message: evil, detail: evil, errors: [] })
      : json(response, 200, { items: [{ id: evil, name: evil, tags: [evil] }], count: 1 }),
  )
  const texts = { 'base-url': platform.url, 'api-key': 'k', 'state-dir': ':memory:' }
  for (const words of [
    ['list_agents'],
    ['list_agents', '--json'],
    ['get_agent', '--agent-id', agent],
    ['get_agent', '--agent-id', agent, '--json'],
    ['get_agent', '--agent-id', evil],
    ['list_agents', `--${evil}`, evil],
  ]) {
    const { stdout, stderr } = await run(words, texts)
    expect(`${stdout}${stderr}`).not.toBe('')
    expect(`${stdout}${stderr}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  }
})

test('the platform fails after it was sent a change: the exit code says that it may be done', async () => {
  await using platform = await startFakePlatform((request, response) =>
    request.method === 'POST'
      ? json(response, 502, { code: 'bad_gateway', message: 'x', detail: null, errors: null })
      : json(response, 200, { id: 'acc' }),
  )
  const texts = { 'base-url': platform.url, 'api-key': 'k', 'state-dir': ':memory:' }
  const { code } = await run(['create_subaccount', '--name', 'Branch'], texts)
  expect(code).toBe(4)
})
