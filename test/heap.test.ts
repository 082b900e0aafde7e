import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { bin, cleanEnv, quietly, startProgram } from './harness/program.ts'

/** The arguments of a process, as the system has them (proc(5)). */
const argumentsOf = (pid: number | undefined) =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(1, -1)

// Only there can be seen from outside what a process was started with.
const isLinux = process.platform === 'linux'
const http = ['http', '--port', '0']

test.runIf(isLinux)(
  'over HTTP it starts itself anew, as the same process, and is small',
  async () => {
    await using program = startProgram(http, quietly, ['--no-deprecation'])
    await program.waitFor(/Serving MCP/)
    const flags = argumentsOf(program.process.pid)
    expect(flags).toEqual([
      '--no-concurrent-recompilation',
      '--max-semi-space-size=4',
      '--no-deprecation',
      bin,
      ...http,
    ])
    // Nothing is said twice, and nothing of how it is done.
    expect(program.stderr().match(/Serving MCP|warning/gi)).toEqual(['Serving MCP'])
    program.process.kill('SIGTERM')
    expect(await program.exited).toBe(0)
  },
)

test.runIf(isLinux)('what the operator has set for its memory stays', async () => {
  await using program = startProgram(http, { ...quietly, MALLOC_ARENA_MAX: '3' }, [
    '--max-semi-space-size=8',
  ])
  await program.waitFor(/Serving MCP/)
  const env = readFileSync(`/proc/${program.process.pid}/environ`, 'utf8').split('\0')
  expect(env).toContain('MALLOC_ARENA_MAX=3')
  expect(argumentsOf(program.process.pid).indexOf('--max-semi-space-size=8')).toBe(2)
})

test('where Node may start nothing, it goes on without a word', async () => {
  const allowed = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*']
  await using program = startProgram(http, quietly, allowed)
  await program.waitFor(/Serving MCP/)
  expect(program.stderr()).not.toMatch(/warning/i)
})

test('a parent that has a channel to it keeps it', async () => {
  const child = fork(bin, http, { env: cleanEnv(quietly), silent: true })
  try {
    const { stderr } = child
    if (!stderr) throw new Error('There is no standard error')
    for await (const line of createInterface(stderr)) if (/Serving MCP/.test(line)) break
    expect(child.connected).toBe(true)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
})

test.runIf(isLinux)('over stdio it does not: its clients wait for the first answer', async () => {
  await using program = startProgram([], quietly)
  await program.waitFor(/voice-agent-mcp/)
  expect(argumentsOf(program.process.pid)).toEqual([bin])
})
