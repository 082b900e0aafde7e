import { writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { scratchFolder, startHttpProgram } from '../harness/program.ts'
import { get } from '../harness/raw-http.ts'

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

/** Replaces DNS for host names that it does not know here. */
const own = new Map([['voice.example', '127.0.0.1']])

const listening: readonly [host: string, allowed: string | undefined][] = [
  ['127.0.0.1', undefined],
  ['localhost', 'voice.example'],
  ['127.0.0.2', undefined],
  ['0.0.0.0', '*'],
  ['0.0.0.0', 'voice.example'],
  ['::', 'voice.example'],
  ['::1', undefined],
]

test.each(listening.filter(([host]) => hasIPv6 || !host.includes(':')))(
  'every address that is printed with --host %s --allowed-hosts %s is served',
  async (host, allowed) => {
    const more = allowed === undefined ? [] : ['--allowed-hosts', allowed]
    await using program = await startHttpProgram({}, ['--host', host, ...more])
    await program.waitFor(/Other clients/)
    const urls = [...program.stderr().matchAll(/https?:\/\/[^\s"]+\/mcp/g)].map(
      ([url]) => new URL(url),
    )
    expect(urls.length).toBeGreaterThan(1)
    for (const url of urls) {
      const name = url.hostname.replaceAll(/[[\]]/g, '')
      const { status, body } = await get(own.get(name) ?? name, url)
      // A GET is answered 405. The test only checks that the host name is accepted.
      expect([url.href, status, body]).toEqual([url.href, 405, expect.stringContaining('POST')])
    }
  },
)

test('a state folder that cannot be written is told at the start, and reads are served', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'file')
  writeFileSync(file, '')
  const dir = join(file, 'state')
  await using program = await startHttpProgram({ VOICE_AGENT_STATE_DIR: dir })
  expect(program.stderr()).toMatch(new RegExp(` ${dir} .* ${file} `))
  const call = mcpHttpRequest('tools/call', { name: 'list_agents', arguments: {} })
  expect(await (await fetch(program.url, call)).text()).toContain('Support line')
})
