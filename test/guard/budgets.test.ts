import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { bin, quietly, startProgram } from '../harness/program.ts'
import { seedIds } from '../harness/sandbox.ts'
import type { ProbeReport } from './probe.ts'

/*
 * What speed depends on, in figures that are the same on every machine: no time is measured. Each has
 * a budget: the recorded figure and a little more. A change that exceeds a budget is improved, or
 * sets a new one with a reason; a change that is far below records the new figure. What Node itself
 * loads and allocates differs between its versions: recorded with Node 24.
 */
const budgets = {
  /**
   * The program and its parts, bytes: recorded at 3,401,400, with what is loaded for PostgreSQL
   * (103,000), for OAuth (720,000) and to edit the files of MCP clients (192,000) only, and
   * for doctor (30,000) and the tools from the terminal (18,000).
   */
  bundleBytes: 3_460_000,
  /** The views, compressed as the package holds them, bytes: usage 37,200, with uPlot (20,000), the others 16,000 to 17,000 each. */
  viewBytes: 88_000,
  /**
   * Files of the program that are loaded before the first answer over stdio: recorded at 14. Two of
   * them are functions that the configuration file shares with other parts, 1 kB together.
   */
  firstFiles: 14,
  /**
   * Their bytes: recorded at 276,100, with the settings and help texts of OAuth, the audit trail and the
   * commands audit, install, tools, call and doctor (20,000), and which tool has which view (1,000).
   */
  firstBytes: 278_000,
  /** Modules of Node besides those of every program: recorded at 11. */
  firstBuiltins: 11,
  /** The answer to tools/list, bytes, with the properties of all known objects: recorded at 83,300. */
  listBytes: 85_500,
  /**
   * What tools/list over HTTP allocates without optimised code, bytes: recorded at 30,650, and 30,840 on a
   * busy machine, where timers fire between the requests.
   */
  listAllocated: 31_100,
  /** The same for a call of get_agent, with the sandbox: recorded at 159,600. */
  callAllocated: 161_000,
}

const dist = join(import.meta.dirname, '../../dist')
const probe = join(import.meta.dirname, 'probe.ts')

/** Starts the program with the probe. */
function probed(args: string[], nodeOptions: string[] = []) {
  const env = { ...quietly, VOICE_AGENT_SANDBOX_DB: ':memory:', NODE_DISABLE_COMPILE_CACHE: '1' }
  const program = startProgram(args, env, [...nodeOptions, '--import', probe])
  let times = 0
  return Object.assign(program, {
    async report(): Promise<ProbeReport> {
      program.process.kill('SIGUSR2')
      const [, text = ''] = await program.waitFor(new RegExp(`^probe ${++times} (.*)$`, 'm'))
      return JSON.parse(text)
    },
  })
}

const bytesOf = (file: string) => statSync(file).size

test('the bundle is as small as it was', () => {
  const files = [bin, ...readdirSync(join(dist, 'parts')).map((name) => join(dist, 'parts', name))]
  const bytes = files.filter((file) => file.endsWith('.js')).map(bytesOf)
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(budgets.bundleBytes)
})

test('the views take as little room as they did', () => {
  const folder = join(dist, 'apps')
  const bytes = readdirSync(folder).map((name) => bytesOf(join(folder, name)))
  expect(bytes.length).toBeGreaterThan(0)
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(budgets.viewBytes)
})

// Windows has no SIGUSR2.
describe.skipIf(process.platform === 'win32')('as little as before', () => {
  test('is loaded and written for the first answer', async () => {
    await using program = probed([])
    program.process.stdin?.write(`${mcpHttpRequest('tools/list').body}\n`)
    await expect.poll(program.stdout, { timeout: 10_000 }).toMatch(/\n$/)
    const answer = program.stdout().trimEnd()
    expect(JSON.parse(answer)).toMatchObject({ result: { tools: expect.anything() } })
    expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(budgets.listBytes)
    const { files, builtins } = await program.report()
    const sizes = files.map((name) =>
      bytesOf(name === 'voice-agent-mcp.js' ? bin : join(dist, 'parts', name)),
    )
    expect(files.length, files.join()).toBeLessThanOrEqual(budgets.firstFiles)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(budgets.firstBytes)
    expect(builtins.length, builtins.join()).toBeLessThanOrEqual(budgets.firstBuiltins)
  })

  test('is allocated for a request over HTTP', async () => {
    // With so large a young generation nothing is collected: the heap grows by what is allocated.
    const heapOptions = ['--min-semi-space-size=128', '--max-semi-space-size=128']
    await using program = probed(
      ['http', '--port', '0'],
      [...heapOptions, '--no-opt', '--no-maglev'],
    )
    const [, url = ''] = await program.waitFor(/Serving MCP at (\S+)/)
    const each = async (method: string, params: Record<string, unknown> = {}) => {
      const ask = async (times: number) => {
        for (let time = 0; time < times; time++) {
          const response = await fetch(url, mcpHttpRequest(method, params))
          expect(await response.text()).not.toMatch(/"isError":true|"error":\{/)
        }
      }
      await ask(200)
      // Memory outside the heap may cause a collection now and then, so the median counts.
      const grown: number[] = []
      for (let batch = 0; batch < 7; batch++) {
        const { heapBytes: before } = await program.report()
        await ask(20)
        const { heapBytes: after } = await program.report()
        grown.push((after - before) / 20)
      }
      return grown.toSorted((a, b) => a - b)[3]
    }
    const listed = await each('tools/list')
    const called = await each('tools/call', {
      name: 'get_agent',
      arguments: { agent_id: seedIds.supportAgent },
    })
    // Less means that there was a collection.
    expect(listed).toBeGreaterThan(1000)
    expect(listed).toBeLessThanOrEqual(budgets.listAllocated)
    expect(called).toBeGreaterThan(1000)
    expect(called).toBeLessThanOrEqual(budgets.callAllocated)
  })
})
