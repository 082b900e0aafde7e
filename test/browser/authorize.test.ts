import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { envelope, json, startFakePlatform } from '../harness/fake-platform.ts'
import { startOauthServer } from '../harness/oauth-server.ts'
import { startPageServer } from './oauth-page-server.ts'
import { accessibilityFlaws, type Page } from './open-browser.ts'
import { browserOfFile } from './shared-browser.ts'

const browser = browserOfFile()

const closing = <T extends AsyncDisposable>(one: T): T => {
  onTestFinished(() => one[Symbol.asyncDispose]())
  return one
}

/** A server with OAuth, on the sandbox or a given platform, and a client registered with it. */
async function start({
  name = 'Example Chat',
  texts = {},
}: {
  name?: string
  texts?: Record<string, string>
} = {}) {
  const server = closing(await startOauthServer({ texts }))
  const client = closing(await startPageServer())
  const redirectUri = `${client.origin}/callback`
  const registration = await fetch(`${server.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: name,
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
    }),
  })
  const { client_id } = z.object({ client_id: z.string() }).parse(await registration.json())
  const verifier = randomBytes(32).toString('base64url')
  const address = new URL(`${server.url}/oauth/authorize`)
  address.search = new URLSearchParams({
    client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'read write call',
    state: 'a-state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: server.mcp,
  }).toString()
  /** Authorization codes that the client received. */
  const codes = () =>
    client.visited
      .filter((path) => path.startsWith('/callback?'))
      .map((path) => new URLSearchParams(path.slice('/callback?'.length)).get('code'))
  return { server, client, redirectUri, client_id, verifier, address: address.href, codes }
}

type Started = Awaited<ReturnType<typeof start>>

/** Names of the tools that the client may call after it exchanges its code. */
async function toolsFor({ server, redirectUri, client_id, verifier, codes }: Started) {
  const reply = await fetch(`${server.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: codes()[0] ?? '',
      redirect_uri: redirectUri,
      client_id,
      code_verifier: verifier,
      resource: server.mcp,
    }),
  })
  const { access_token } = z.object({ access_token: z.string() }).parse(await reply.json())
  const listed = await fetch(server.mcp, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${access_token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  const text = await listed.text()
  return [...text.matchAll(/"name":"([a-z_]+)"/g)].map(([, name]) => name)
}

/** A fake platform with four kinds of keys. */
async function startKeyPlatform() {
  return closing(
    await startFakePlatform(({ headers }, response) => {
      const key = headers['x-api-key']
      if (key === 'good-key') return json(response, 200, { id: 'acc-1', name: 'Example Clinic' })
      if (key === 'closed-key') return json(response, 403, envelope('forbidden'))
      if (key === 'down-key') return void response.destroy()
      json(response, 401, envelope('unauthorized'))
    }),
  )
}

/** Waits until the page has a matching element. */
const has = (page: Page, selector: string) =>
  expect
    .poll(() => page.evaluate(`document.querySelector(${JSON.stringify(selector)}) !== null`))
    .toBe(true)

const asksForKey = (page: Page) => has(page, 'button[value=continue], button[value=sandbox]')
const asksForConsent = (page: Page) => has(page, 'button[value=allow]')

/** Waits until the page's HTTP status is `status`. */
const cameWith = (page: Page, status: 403 | 409 | 410 | 422 | 503) =>
  expect
    .poll(() => page.evaluate("performance.getEntriesByType('navigation')[0].responseStatus"))
    .toBe(status)

const isTooWide = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth > window.innerWidth')

async function tab(page: Page, times: number) {
  for (let time = 0; time < times; time++) await page.keyboard.press('Tab')
}

const typeKey = async (page: Page, key: string) => {
  await page.fill('#key', key)
  await page.click('button[value=continue]')
}

describe('a person connects a client', () => {
  test('with the keyboard alone, without script, on a phone, in the dark', async () => {
    const started = await start()
    const page = await browser.newPage({
      javaScriptEnabled: false,
      colorScheme: 'dark',
      viewport: { width: 320, height: 568 },
    })
    await page.goto(started.address)
    expect(await isTooWide(page)).toBe(false)
    await tab(page, 1)
    await page.keyboard.press('Enter')
    await asksForConsent(page)
    expect(await page.innerText('h1')).toContain('“Example Chat”')
    expect(await isTooWide(page)).toBe(false)
    // The box for placing calls is unticked, although the client requests that scope.
    expect(await page.isChecked('#scope-call')).toBe(false)
    await tab(page, 4)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/callback\?code=/)
    expect(page.url()).toContain('state=a-state')
    const tools = await toolsFor(started)
    expect(tools).toContain('list_agents')
    expect(tools).toContain('create_agent')
  })

  test('with a key of the platform; wrong ones are told apart', async () => {
    const platform = await startKeyPlatform()
    const started = await start({ texts: { 'base-url': platform.url } })
    const page = await browser.newPage()
    await page.goto(started.address)
    expect(await accessibilityFlaws(page)).toEqual([])

    await typeKey(page, 'bad-key')
    await cameWith(page, 422)
    expect(await page.title()).toMatch(/^Error: /)
    expect(await page.content()).not.toContain('bad-key')
    expect(await accessibilityFlaws(page)).toEqual([])

    await typeKey(page, 'closed-key')
    await cameWith(page, 403)
    await typeKey(page, 'down-key')
    await cameWith(page, 503)
    await typeKey(page, 'a key of nobody')
    await cameWith(page, 422)

    await typeKey(page, ' good-key ')
    await asksForConsent(page)
    expect(await page.innerText('main')).toContain('“Example Clinic”')
    expect(await page.content()).not.toContain('good-key')
    expect(await accessibilityFlaws(page)).toEqual([])

    // The user can change the key before giving consent.
    await page.click('button[value=other_key]')
    await asksForKey(page)
    await typeKey(page, 'good-key')
    await asksForConsent(page)
    await page.click('button[value=allow]')
    await page.waitForURL(/\/callback\?code=/)
    expect(await toolsFor(started)).toContain('place_call')
  })

  test('and leaves all boxes empty, then cancels', async () => {
    const { address, client } = await start()
    const page = await browser.newPage()
    await page.goto(address)
    await page.click('button[value=sandbox]')
    await asksForConsent(page)
    for (const scope of ['read', 'write']) await page.click(`#scope-${scope}`)
    await page.click('button[value=allow]')
    await has(page, '#scope-problem')
    await page.click('button[value=cancel]')
    await page.waitForURL(/\/callback\?error=access_denied/)
    expect(client.visited.join()).not.toContain('code=')
  })

  test('and sees the client, whatever it calls itself', async () => {
    const name = `</title><script>document.title='run'</script>\u202e${'a'.repeat(9000)}`
    const { address } = await start({ name })
    const page = await browser.newPage({ viewport: { width: 320, height: 568 } })
    await page.goto(address)
    expect(await page.title()).toContain('Connect')
    expect(await page.innerText('h1')).toContain('\\u202e')
    expect(await page.evaluate('document.scripts.length')).toBe(0)
    await has(page, 'p.notice')
    expect(await isTooWide(page)).toBe(false)
    expect(await accessibilityFlaws(page)).toEqual([])
  })

  test('whose callback leads on to another host', async () => {
    const { address, client } = await start()
    const other = closing(await startPageServer())
    client.redirectTo(`${other.origin}/done`)
    const page = await browser.newPage()
    await page.goto(address)
    await page.click('button[value=sandbox]')
    await asksForConsent(page)
    await page.click('button[value=allow]')
    await page.waitForURL(`${other.origin}/done`)
  })
})

describe('a form that was sent twice', () => {
  test('by a double click gives one code', async () => {
    const started = await start()
    const page = await browser.newPage()
    await page.goto(started.address)
    await page.dblclick('button[value=sandbox]')
    await asksForConsent(page)
    await page.dblclick('button[value=allow]')
    await page.waitForURL(/\/callback\?code=/)
    expect(new Set(started.codes()).size).toBe(1)
    expect(await toolsFor(started)).toContain('list_agents')
  })

  test('from two pages gives one code, and the second page says so', async () => {
    const started = await start()
    const [first, second] = await browser.newPages(2)
    if (!first || !second) throw new Error('There are no two pages.')
    await first.goto(started.address)
    await first.click('button[value=sandbox]')
    await asksForConsent(first)
    await second.goto(first.url())
    await asksForConsent(second)
    await first.click('button[value=allow]')
    await first.waitForURL(/\/callback\?code=/)
    await second.click('button[value=allow]')
    await cameWith(second, 409)
    expect(started.codes()).toHaveLength(1)
  })

  test('by the way back shows that it was answered', async () => {
    const started = await start()
    const page = await browser.newPage()
    await page.goto(started.address)
    await page.click('button[value=sandbox]')
    await asksForConsent(page)
    const consent = page.url()
    await page.click('button[value=allow]')
    await page.waitForURL(/\/callback\?code=/)
    await page.goto(consent)
    await cameWith(page, 409)
  })
})

describe('a request that is not the person’s own', () => {
  test('has expired, or was never made', async () => {
    const { server, address, client } = await start()
    const page = await browser.newPage()
    await page.goto(`${server.url}/oauth/interaction/no-such-request`)
    await cameWith(page, 410)
    expect(await accessibilityFlaws(page)).toEqual([])
    // Without its cookie, a request counts as expired.
    await page.goto(address)
    await page.context().clearCookies()
    await page.click('button[value=sandbox]')
    await cameWith(page, 410)
    expect(client.visited).toEqual([])
  })

  test('a form of another origin is refused, with the cookies of the person', async () => {
    const { address, client } = await start()
    const [own, forged] = await browser.newPages(2)
    if (!own || !forged) throw new Error('There are no two pages.')
    await own.goto(address)
    const attacker = await startAttacker(`<form method="post" action="${own.url()}">
      <input name="step" value="key"><input name="answer" value="sandbox">
      <input name="form_token" value="${await own.evaluate('document.forms[0].form_token.value')}">
      <button>Win a prize</button></form>`)
    await forged.goto(attacker)
    await forged.click('button')
    await cameWith(forged, 403)
    expect(await accessibilityFlaws(forged)).toEqual([])
    // The forged form did not change the request.
    await own.reload()
    await asksForKey(own)
    expect(client.visited).toEqual([])
  })

  test('the page is shown in no frame', async () => {
    const { address } = await start()
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(
      await startAttacker(`<iframe src="${address.replaceAll('&', '&amp;')}"></iframe>`),
    )
    await expect.poll(() => complaints.join()).toMatch(/frame-ancestors|X-Frame-Options/)
  })

  async function startAttacker(body: string): Promise<string> {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'text/html').end(`<!doctype html>${body}`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }
})
