import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { bin, quietly, startProgram } from '../harness/program.ts'
import { seedIds } from '../harness/sandbox.ts'
import type { Told } from './probe.ts'

/*
 * What speed depends on, in figures that are the same on every machine: no clock is read. Each has
 * a budget: what it was when it was recorded, and a little room. A change that goes over it gives a
 * good reason for a new one, or mends what it did; one that goes far below it records the gain.
 * What Node itself loads and allocates differs between its versions: recorded with Node 24.
 */
const budgets = {
  /** The program and its parts, bytes: recorded at 2,038,500. */
  bundleBytes: 2_100_000,
  /** Files of the program that are loaded before the first answer over stdio: recorded at 12. */
  firstFiles: 12,
  /** And their bytes: recorded at 272,000, with settings for limits. */
  firstBytes: 277_000,
  /** And parts of Node beside those that every program has: recorded at 11. */
  firstBuiltins: 11,
  /** The answer to tools/list, bytes, with the properties of all known objects: recorded at 83,300. */
  listBytes: 85_500,
  /** What tools/list leaves on the heap, over HTTP and not optimised, bytes: recorded at 29,300. */
  listAllocated: 30_800,
  /** What a call of get_agent does, with the sandbox in it: recorded at 155,300. */
  callAllocated: 160_000,
}

const dist = join(import.meta.dirname, '../../dist')
const probe = join(import.meta.dirname, 'probe.ts')

/** Starts the program with the probe in it. */
function probed(args: string[], nodeOptions: string[] = []) {
  const env = { ...quietly, VOICE_AGENT_SANDBOX_DB: ':memory:', NODE_DISABLE_COMPILE_CACHE: '1' }
  const program = startProgram(args, env, [...nodeOptions, '--import', probe])
  let times = 0
  return Object.assign(program, {
    async told(): Promise<Told> {
      program.process.kill('SIGUSR2')
      const [, told = ''] = await program.waitFor(new RegExp(`^probe ${++times} (.*)$`, 'm'))
      return JSON.parse(told)
    },
  })
}

const bytesOf = (file: string) => statSync(file).size

test('the bundle is as small as it was', () => {
  const files = [bin, ...readdirSync(join(dist, 'parts')).map((name) => join(dist, 'parts', name))]
  const bytes = files.filter((file) => file.endsWith('.js')).map(bytesOf)
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(budgets.bundleBytes)
})

// A program on Windows hears no signal.
describe.skipIf(process.platform === 'win32')('as little as before', () => {
  test('is loaded and written for the first answer', async () => {
    await using program = probed([])
    program.process.stdin?.write(`${mcpHttpRequest('tools/list').body}\n`)
    await expect.poll(program.stdout, { timeout: 10_000 }).toMatch(/\n$/)
    const answer = program.stdout().trimEnd()
    expect(JSON.parse(answer)).toMatchObject({ result: { tools: expect.anything() } })
    expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(budgets.listBytes)
    const { files, builtins } = await program.told()
    const sizes = files.map((name) =>
      bytesOf(name === 'voice-agent-mcp.js' ? bin : join(dist, 'parts', name)),
    )
    expect(files.length, files.join()).toBeLessThanOrEqual(budgets.firstFiles)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(budgets.firstBytes)
    expect(builtins.length, builtins.join()).toBeLessThanOrEqual(budgets.firstBuiltins)
  })

  test('is allocated for a request over HTTP', async () => {
    // With room for all of it the heap grows by what is allocated.
    const room = ['--min-semi-space-size=128', '--max-semi-space-size=128']
    await using program = probed(['http', '--port', '0'], [...room, '--no-opt', '--no-maglev'])
    const [, url = ''] = await program.waitFor(/Serving MCP at (\S+)/)
    const each = async (method: string, params: Record<string, unknown> = {}) => {
      const ask = async (times: number) => {
        for (let time = 0; time < times; time++) {
          const response = await fetch(url, mcpHttpRequest(method, params))
          expect(await response.text()).not.toMatch(/"isError":true|"error":\{/)
        }
      }
      await ask(200)
      // What is not on the heap, such as what is written, may have it collected once in a while.
      const grown: number[] = []
      for (let batch = 0; batch < 7; batch++) {
        const { heapBytes: before } = await program.told()
        await ask(20)
        const { heapBytes: after } = await program.told()
        grown.push((after - before) / 20)
      }
      return grown.toSorted((a, b) => a - b)[3]
    }
    const listed = await each('tools/list')
    const called = await each('tools/call', {
      name: 'get_agent',
      arguments: { agent_id: seedIds.supportAgent },
    })
    // Less would mean that it was collected after all.
    expect(listed).toBeGreaterThan(1000)
    expect(listed).toBeLessThanOrEqual(budgets.listAllocated)
    expect(called).toBeGreaterThan(1000)
    expect(called).toBeLessThanOrEqual(budgets.callAllocated)
  })
})
