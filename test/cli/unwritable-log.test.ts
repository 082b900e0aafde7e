import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { bin, cleanEnv, freePort, quietly, startInShell } from '../harness/program.ts'
import { rpc, sendRefused } from '../harness/rpc.ts'

const env = cleanEnv({ VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly })
const listAgents = mcpHttpRequest('tools/call', { name: 'list_agents', arguments: {} }).body

/** Checks that a server still answers after it has logged refused requests. */
async function staysAlive(port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}/mcp`
  const isThere = () => fetch(new URL('/health', url)).then((response) => response.ok)
  await expect.poll(() => isThere().catch(() => false), { timeout: 15_000 }).toBe(true)
  for (let time = 0; time < 3; time++) expect(await sendRefused(url)).toBe(400)
  const { result } = await rpc(url, 'tools/call', { name: 'list_agents', arguments: {} })
  expect(result).toHaveProperty('structuredContent')
}

const args = (port: number, form = 'text') => [bin, 'http', '--port', String(port), '--log', form]

describe.skipIf(!existsSync('/dev/full'))('a log on a full disk', () => {
  test.each(['text', 'json'])('does not end a server that logs in %s', async (form) => {
    const port = await freePort()
    const child = spawn(process.execPath, args(port, form), {
      env,
      stdio: ['ignore', 'ignore', openSync('/dev/full', 'w')],
    })
    try {
      await staysAlive(port)
    } finally {
      child.kill('SIGTERM')
    }
    expect((await once(child, 'close'))[0]).toBe(0)
  })

  test('does not end a connection over stdio', async () => {
    const child = spawn(process.execPath, [bin], {
      env,
      stdio: ['pipe', 'pipe', openSync('/dev/full', 'w')],
    })
    const { stdin, stdout } = child
    if (!stdin || !stdout) throw new Error('There are no pipes')
    stdin.end(`nonsense\n${listAgents}\n`)
    const lines: string[] = []
    for await (const line of createInterface(stdout)) lines.push(line)
    expect(lines.some((line) => line.includes('structuredContent'))).toBe(true)
    expect(child.exitCode ?? (await once(child, 'close'))[0]).toBe(0)
  })
})

describe.skipIf(!existsSync('/dev/full'))('standard output on a full disk', () => {
  test.each([
    ['a result', ['call', 'list_agents', '--json']],
    ['the tools', ['tools']],
    ['what doctor finds', ['doctor']],
    ['help', ['--help']],
  ])('is told and no success: %s', async (_, words) => {
    const child = spawn(process.execPath, [bin, ...words], {
      env,
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    })
    let log = ''
    child.stderr?.on('data', (chunk) => {
      log += chunk
    })
    expect((await once(child, 'close'))[0]).toBe(4)
    expect(log).toMatch(/\(ENOSPC/)
  })
})

describe.skipIf(process.platform === 'win32')('standard output whose reader takes its time', () => {
  // The pipe is almost full, and its reader starts after 3 s: later than the 2 s that bin.ts gives
  // an ended process to flush its output.
  const script =
    '{ head -c 60000 /dev/zero; "$0" "$@"; echo "code $?" >&2; } | { sleep 3; tail -c +60001; }; exit 0'

  test.each([
    ['help', ['--help', 'all'], /--version +.*\n$/],
    ['what a command prints', ['tools', '--json'], /\n\]\n$/],
  ])('is written to its end: %s', async (_, words, end) => {
    await using program = startInShell(script, words, quietly)
    await program.exited
    expect(program.stdout()).toMatch(end)
    expect(program.stderr()).toBe('code 0\n')
  })

  test('is no success when Ctrl+C ends it before', async () => {
    const stuck =
      '{ head -c 60000 /dev/zero; timeout --foreground --preserve-status -s INT 3 "$0" "$@"; echo "code $?" >&2; } | sleep 6; exit 0'
    await using program = startInShell(stuck, ['tools', '--json'], quietly)
    await program.exited
    expect(program.stderr()).toBe('code 130\n')
  })
})

describe('a log whose reader has gone', () => {
  test.each(['text', 'json'])('does not end a server that logs in %s', async (form) => {
    const port = await freePort()
    const stdio = ['ignore', 'ignore', 'pipe'] as const
    const child = spawn(process.execPath, args(port, form), { env, stdio: [...stdio] })
    child.stderr.destroy()
    try {
      await staysAlive(port)
    } finally {
      child.kill('SIGTERM')
    }
    expect((await once(child, 'close'))[0]).toBe(0)
  })
})

describe('standard output whose reader has gone', () => {
  test('is a clean end of a connection over stdio', async () => {
    const child = spawn(process.execPath, [bin], { env })
    let log = ''
    child.stderr.on('data', (chunk) => {
      log += chunk
    })
    child.stdout.destroy()
    child.stdin.on('error', () => undefined)
    child.stdin.write(`${mcpHttpRequest('tools/list').body}\n`)
    expect((await once(child, 'close'))[0]).toBe(0)
    expect(log).not.toMatch(/EPIPE|\n +at /)
  })

  test('is a clean end after the first tool, too', async () => {
    const child = spawn(process.execPath, [bin], { env })
    let log = ''
    child.stderr.on('data', (chunk) => {
      log += chunk
    })
    child.stdin.on('error', () => undefined)
    child.stdin.write(`${listAgents}\n`)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    child.stdin.write(`${listAgents}\n${listAgents}\n`)
    expect((await once(child, 'close'))[0]).toBe(0)
    expect(log).not.toMatch(/\n +at /)
  })

  test('does not disturb --help', async () => {
    const child = spawn(process.execPath, [bin, '--help'], { env })
    let log = ''
    child.stderr.on('data', (chunk) => {
      log += chunk
    })
    child.stdout.destroy()
    expect((await once(child, 'close'))[0]).toBe(0)
    expect(log).toBe('')
  })
})
