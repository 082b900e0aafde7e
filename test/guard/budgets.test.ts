import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { bin, quietly, startProgram } from '../harness/program.ts'

/*
 * What speed depends on, in figures that are the same on every machine: no time is measured. Each has
 * a budget: the recorded figure and a little more. A change that exceeds a budget is improved, or
 * sets a new one with a reason; a change that is far below records the new figure.
 */
const budgets = {
  /**
   * The program and its parts, bytes: recorded at 3,601,100, with what is loaded for PostgreSQL
   * (103,000), for OAuth (720,000) and to edit the files of MCP clients (192,000) only, and
   * for doctor (30,000) and the tools from the terminal (18,000).
   */
  bundleBytes: 3_660_000,
  /**
   * The views, compressed as the package holds them, bytes: usage 47,000, with uPlot (20,000), the
   * others 19,000 to 29,700 each. All have the shared style and failures; only those whose tools need
   * confirmation have decisions (5,000 each).
   */
  viewBytes: 150_000,
  /** Files of the program that are loaded before the first answer over stdio, bytes together: recorded at 276,100. */
  firstBytes: 300_000,
  /** The answer to tools/list, bytes, with the properties of all known objects: recorded at 83,300. */
  listBytes: 85_500,
}

const dist = join(import.meta.dirname, '../../dist')
const probe = join(import.meta.dirname, 'loaded-files.ts')

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

test('the list of tools, and what is loaded to write it, are as small as they were', async () => {
  const env = { ...quietly, VOICE_AGENT_SANDBOX_DB: ':memory:', NODE_DISABLE_COMPILE_CACHE: '1' }
  await using program = startProgram([], env, ['--import', probe])
  program.process.stdin.write(`${mcpHttpRequest('tools/list').body}\n`)
  await expect.poll(program.stdout, { timeout: 10_000 }).toMatch(/\n$/)
  const answer = program.stdout().trimEnd()
  expect(JSON.parse(answer)).toMatchObject({ result: { tools: expect.anything() } })
  expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(budgets.listBytes)
  const loaded = [...program.stderr().matchAll(/^loaded (.*\/dist\/.*)$/gm)]
  const sizes = loaded.map(([, url = '']) => bytesOf(fileURLToPath(url)))
  expect(sizes.length).toBeGreaterThan(1)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(budgets.firstBytes)
})
