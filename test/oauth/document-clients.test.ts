import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startConnectProxy } from '../harness/connect-proxy.ts'
import { Person } from '../harness/oauth-person.ts'
import { freePort, scratchFolder, startHttpProgram } from '../harness/program.ts'
import { startDocumentServer, trusted } from './guarded-fetch/document-server.ts'

/*
 * Clients that publish their metadata, on the built program: with the documents read over a real
 * connection, through the proxy of the environment.
 */

const documentUrl = 'https://platform.example/oauth/client.json'
const redirectUri = 'https://platform.example/callback'
const document = {
  client_id: documentUrl,
  client_name: 'Example Chat',
  redirect_uris: [redirectUri],
  token_endpoint_auth_method: 'none',
}

const answerWith =
  (body: object): RequestListener =>
  (_, response) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))

/** A program with OAuth on its sandbox, and a web that it reaches through a proxy. */
async function start(answer: RequestListener) {
  const folder = scratchFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const authority = join(folder.path, 'authority.pem')
  writeFileSync(authority, trusted)
  const web = await startDocumentServer(answer)
  onTestFinished(() => web[Symbol.asyncDispose]())
  const proxy = await startConnectProxy(web.port)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const program = await startHttpProgram(
    {
      HTTPS_PROXY: proxy.url.href,
      NODE_EXTRA_CA_CERTS: authority,
      VOICE_AGENT_STATE_DIR: ':memory:',
    },
    ['--oauth', '--public-url', url, '--port', String(port)],
  )
  onTestFinished(() => program[Symbol.asyncDispose]())
  /** The page that a person gets when a client asks for access. */
  const ask = async (clientId: string, redirect = redirectUri) => {
    const person = new Person(url)
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirect,
      response_type: 'code',
      scope: 'read',
      code_challenge: createHash('sha256').update('a').digest('base64url'),
      code_challenge_method: 'S256',
    })
    await person.open(`/oauth/authorize?${query}`)
    const { status, text = '' } = person.page ?? {}
    return { status, text: text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ') }
  }
  return { ask, web, proxy }
}

describe('a client that publishes a document', () => {
  test('is named with its host; the document is read once', async () => {
    const { ask, web, proxy } = await start(answerWith(document))
    for (const _ of [1, 2, 3]) {
      const { status, text } = await ask(documentUrl)
      expect(status).toBe(200)
      expect(text).toContain('Published by platform.example (checked)')
      expect(text).toContain('Example Chat')
    }
    expect(web.asked).toEqual(['/oauth/client.json'])
    expect(proxy.asked).toMatchObject([{ target: 'platform.example:443' }])
  })

  test('may not have people sent elsewhere than the document says', async () => {
    const { ask } = await start(answerWith(document))
    const { status, text } = await ask(documentUrl, 'https://attacker.example/callback')
    expect(status).toBe(400)
    expect(text).toContain('The program sent an invalid request')
  })

  test('is refused with a flaw in the document', async () => {
    const { ask } = await start(({ url = '' }, response) => {
      const client_id = `https://platform.example${url}`
      const body = { ...document, client_id, ...flaws[url] }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    })
    expect((await ask('https://platform.example/without-flaw')).status).toBe(200)
    for (const [path, flaw] of Object.entries(flaws)) {
      const redirect = flaw.redirect_uris?.[0] ?? redirectUri
      const { status, text } = await ask(`https://platform.example${path}`, redirect)
      expect(status, path).toBe(400)
      expect(text).toContain('The program sent an invalid request')
    }
  })

  test('is not read at an address that is not public', async () => {
    const { ask, proxy } = await start(answerWith(document))
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '169.254.169.254',
      'localhost',
      'metadata.google.internal',
    ]) {
      const { status, text } = await ask(`https://${host}/client.json`)
      expect(status, host).toBe(400)
      expect(text).toContain('The program sent an invalid request')
    }
    expect(proxy.asked).toEqual([])
  })
})

/** What is wrong with a document, by its path. */
const flaws: Readonly<Record<string, Partial<typeof document> & { client_secret?: string }>> = {
  '/names-another-client': { client_id: 'https://platform.example/other.json' },
  '/has-a-secret': { client_secret: 'a-secret-that-everybody-can-read' },
  '/has-no-redirect': { redirect_uris: [] },
  '/would-run-code': { redirect_uris: ['javascript:alert(1)'] },
  '/is-too-large': { client_name: 'a'.repeat(20_000) },
}
