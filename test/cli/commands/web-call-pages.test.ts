import { expect, test } from 'vitest'
import * as z from 'zod'
import { createWebCallServer } from '../../../src/cli/commands/stdio.ts'
import { clientKinds, connectHttp, connectStdio, type TestClient } from '../../harness/client.ts'
import { startHttpProgram } from '../../harness/program.ts'
import { exchange } from '../../harness/raw-http.ts'

const Placed = z.looseObject({ id: z.string(), join: z.looseObject({ page_url: z.url() }) })

/** Places a web call and joins it. Returns the URL of its page. */
async function talk(client: TestClient): Promise<URL> {
  const agent_id = '00000000-0000-4000-8002-000000000001'
  const result = await client.call('place_call', { type: 'web', agent_id, external_id: 'web-1' })
  expect(result.content[0]?.text).toContain('join.page_url')
  const { id, join } = Placed.parse(result.structuredContent)
  expect((await fetch(join.page_url, { headers: { accept: 'text/html' } })).status).toBe(200)
  for (const action of ['join', 'say', 'hang_up']) {
    const body = new URLSearchParams({ action, text: 'Is anybody there?' })
    const { status } = await fetch(join.page_url, { method: 'POST', body })
    expect(status).toBe(200)
  }
  const call = await client.value('get_call', { call_id: id })
  expect(call.status).toBe('completed')
  expect(JSON.stringify(call)).toContain('Is anybody there?')
  return new URL(join.page_url)
}

test.each(clientKinds)('over stdio the page is on this machine only, %s', async (kind) => {
  await using client = await connectStdio(kind)
  const page = await talk(client)
  expect(page.hostname).toBe('127.0.0.1')
  const foreign = await exchange(
    page.href,
    `GET ${page.pathname} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
  )
  expect(foreign).toMatch(/^HTTP\/1.1 403 /)
  // This server serves only web calls, not the sandbox's API.
  for (const path of ['/', '/v1/openapi.json', '/v1/accounts/current']) {
    expect((await fetch(new URL(path, page))).status, path).toBe(404)
  }
})

test('over HTTP it is at the address of the server', async () => {
  await using program = await startHttpProgram()
  await using client = await connectHttp('v2 2026-07-28', program.url)
  const page = await talk(client)
  expect(page.origin).toBe(new URL(program.url).origin)
  expect((await fetch(new URL('/web-calls/none', page))).status).toBe(404)
})

test('without a waiting time the simulated caller speaks at once, as on a platform without pages', async () => {
  await using client = await connectStdio('v2 2026-07-28', {
    env: { VOICE_AGENT_SANDBOX_WEB_WAIT: '0', VOICE_AGENT_SANDBOX_SPEED: '1000' },
  })
  const agent_id = '00000000-0000-4000-8002-000000000001'
  const { id } = await client.value('place_call', { type: 'web', agent_id, external_id: 'web-2' })
  const call = await client.value('wait_for_call', { call_id: id })
  expect(call).toMatchObject({ status: 'completed', answer_status: 'human' })
})

test('pages that could not be served are tried again with the next call', async () => {
  let isOpen = false
  const show = async () => new Response('a page')
  const server = createWebCallServer(() => (isOpen ? show : undefined))
  expect(await server.pagesAt()).toBe(undefined)
  isOpen = true
  const [one, other] = await Promise.all([server.pagesAt(), server.pagesAt()])
  expect(one).toMatch(/^http:\/\/127\.0\.0\.1:/)
  expect(other).toBe(one)
  await server.close()
})
