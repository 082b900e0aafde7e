import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakePlatform } from '../harness/fake-platform.ts'
import { clientMeta, mcpHttpRequest } from '../harness/mcp-request.ts'
import { scratchFolder, startHttpProgram } from '../harness/program.ts'
import { doubleText, largeTextWindows, layoutFlaws } from './layout-flaws.ts'
import { accessibilityFlaws, type Page, type PageSettings } from './open-browser.ts'
import { browserOfFile, openAddress } from './shared-browser.ts'

const browser = browserOfFile()
let program: Awaited<ReturnType<typeof startHttpProgram>>
let address: string
beforeAll(async () => {
  program = await startHttpProgram()
  address = program.url.replace(/mcp$/, '')
})
afterAll(() => program?.[Symbol.asyncDispose]())

const open = (settings?: PageSettings, url = address) => openAddress(browser, url, settings)

/** User agents by device or program. */
const agents = {
  mac: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)',
  linux: 'Mozilla/5.0 (X11; Linux x86_64)',
  phone: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Mobile/15E148',
  code: 'Mozilla/5.0 (X11; Linux x86_64) Code/1.104.0 Electron/37.3.1',
  insiders: 'Mozilla/5.0 (Windows NT 10.0) Code-Insiders/1.105.0 Electron/37.3.1',
}

const openAll = "for (const one of document.querySelectorAll('details')) one.open = true"

const looks = [
  { colorScheme: 'light' },
  { colorScheme: 'dark' },
  { colorScheme: 'light', viewport: { width: 320, height: 568 } },
  { colorScheme: 'dark', viewport: { width: 320, height: 568 } },
  { forcedColors: 'active' },
] as const

/** Tones of the badges in the header. */
const marksOf = (page: Page) =>
  page.evaluate("[...document.querySelectorAll('header .badge')].map((one) => one.dataset.tone)")

/**
 * Checks in every theme that axe finds no violation, nothing overflows, and the browser reports no
 * error.
 */
async function expectReadable(
  address: string,
  { marks, names }: { readonly marks: readonly string[]; readonly names: readonly string[] },
): Promise<void> {
  for (const look of looks) {
    const { page, complaints } = await openAddress(browser, address, look)
    await page.evaluate(openAll)
    expect(await marksOf(page)).toEqual(marks)
    for (const name of names) expect(await page.innerText('main')).toContain(name)
    expect(await accessibilityFlaws(page)).toEqual([])
    const isTooWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
    expect([look, isTooWide, complaints]).toEqual([look, false, []])
    await page.close()
  }
}

test('light and dark, at desktop and phone width it can be read', () =>
  expectReadable(address, { marks: ['neutral'], names: ['Sandbox'] }))

test.each(largeTextWindows)(
  'at $width pixels with doubled text, nothing is cut or covered',
  async (viewport) => {
    for (const userAgent of [agents.mac, agents.phone]) {
      const { page } = await open({ viewport, userAgent })
      await doubleText(page)
      expect(await layoutFlaws(page)).toEqual([])
      await page.evaluate(openAll)
      expect(await layoutFlaws(page)).toEqual([])
      expect(await accessibilityFlaws(page)).toEqual([])
    }
  },
)

test('also where neither the platform nor the state is reachable', async () => {
  using folder = scratchFolder()
  await using other = await startHttpProgram({
    VOICE_AGENT_BASE_URL: 'http://127.0.0.1:9',
    VOICE_AGENT_API_KEY: 'key-of-the-operator',
    VOICE_AGENT_LOCAL_TOKEN: 'on',
    VOICE_AGENT_STATE_DIR: folder.path,
    VOICE_AGENT_STATE_URL: 'postgres://u:a-password@127.0.0.1:9/d',
    VOICE_AGENT_SECRET: 's'.repeat(32),
  })
  const names = ['YOUR-LOCAL-TOKEN', 'X-API-Key']
  await expectReadable(other.url.replace(/mcp$/, ''), {
    marks: ['warning', 'danger', 'danger'],
    names,
  })
})

test('and with OAuth', async () => {
  const flags = ['--oauth', '--public-url', `https://${'long-name.'.repeat(8)}example/`]
  await using other = await startHttpProgram({}, [...flags, '--allowed-hosts', '*'])
  const start = other.url.replace(/mcp$/, '')
  await expectReadable(start, { marks: ['neutral'], names: ['ChatGPT'] })
  const { page } = await open({}, start)
  expect(await page.evaluate("document.querySelector('[data-access]').dataset.access")).toBe(
    'oauth',
  )
})

test('only the real platform asks for a key on the way', async () => {
  const flags = ['--oauth', '--public-url', 'https://voice.example', '--allowed-hosts', '*']
  const wordsOf = async (env: Readonly<Record<string, string>>) => {
    await using other = await startHttpProgram(env, flags)
    const { page } = await open({}, other.url.replace(/mcp$/, ''))
    return page.innerText('[data-access]')
  }
  expect(await wordsOf({})).toMatch(/^Your assistant opens a page .*\. No key is needed\.$/)
  const real = { VOICE_AGENT_BASE_URL: 'http://127.0.0.1:9', VOICE_AGENT_SECRET: 's'.repeat(32) }
  expect(await wordsOf(real)).toContain('where you give your API key')
})

test('on a phone, a configuration is whole, and names keep apart from the buttons', async () => {
  const { page } = await open({ userAgent: agents.phone, viewport: { width: 360, height: 640 } })
  await page.evaluate(openAll)
  const isCut = `[...document.querySelectorAll('.block, .block *')].some(
    ({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth)`
  expect(await page.evaluate(isCut)).toBe(false)
  const gaps = `[...document.querySelectorAll('.client')].map((one) =>
    one.querySelector('.action > *').getBoundingClientRect().left -
    one.querySelector('h3').getBoundingClientRect().right)`
  expect(Math.min(...((await page.evaluate(gaps)) as number[]))).toBeGreaterThanOrEqual(12)
})

test('a platform that never answers does not hold the page up', async () => {
  await using platform = await startFakePlatform(() => {})
  await using other = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
  const { page } = await open({}, other.url.replace(/mcp$/, ''))
  expect(await marksOf(page)).toEqual(['warning', 'danger'])
})

const order = (page: Page) =>
  page.evaluate("[...document.querySelectorAll('.client')].map(({ id }) => id)")

test('every client is reached with the keyboard alone, in the order of the page', async () => {
  const { page } = await open()
  const reached: unknown[] = []
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press('Tab')
    reached.push(await page.evaluate("document.activeElement.closest('.client')?.id"))
    if (await page.evaluate("document.activeElement.matches('.more > summary')"))
      await page.keyboard.press('Enter')
  }
  expect([...new Set(reached.filter((id) => id !== undefined))]).toEqual(await order(page))
})

/** Ids of the clients that are shown without unfolding. */
const shown = (page: Page) =>
  page.evaluate("[...document.querySelectorAll('main > section > .client')].map(({ id }) => id)")

test('five clients are shown, by the system of the visitor, and the others are folded', async () => {
  for (const [system, has] of [
    ['mac', true],
    ['linux', false],
  ] as const) {
    const { page } = await open({ userAgent: agents[system] })
    const five = (await shown(page)) as string[]
    expect(five).toHaveLength(5)
    expect(five.includes('claude-desktop')).toBe(has)
    expect(five).not.toContain('vscode-insiders')
    expect((await order(page)) as string[]).toContain('vscode-insiders')
  }
})

test('hosted assistants are first where they can connect, also on a phone', async () => {
  const flags = ['--oauth', '--public-url', 'https://voice.example', '--allowed-hosts', '*']
  await using other = await startHttpProgram({}, flags)
  const start = other.url.replace(/mcp$/, '')
  const { page } = await open({ userAgent: agents.mac }, start)
  const hosted = ['claude', 'chatgpt']
  expect(await shown(page)).toEqual([...hosted, 'claude-code', 'cursor', 'vscode'])
  await page.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text }')
  for (const id of hosted) {
    expect(await page.innerText(`#${id} .action`)).toBe('Copy address')
    await page.evaluate('window.copied = undefined')
    await page.click(`#${id} .action button`)
    await expect.poll(() => page.evaluate('window.copied')).toBe('https://voice.example/mcp')
  }
  const { page: phone } = await open({ userAgent: agents.phone }, start)
  expect(await shown(phone)).toEqual(hosted)
  expect(await phone.innerText('[data-access]')).toContain('Programs on a computer')
  const { page: editor } = await open({ userAgent: agents.code }, start)
  expect(((await shown(editor)) as string[]).slice(0, 3)).toEqual(['vscode', ...hosted])
})

test.each([
  ['code', 'vscode'],
  ['insiders', 'vscode-insiders'],
] as const)('in the browser of a client, that client is first: %s', async (program, id) => {
  const { page } = await open({ userAgent: agents[program] })
  expect(((await order(page)) as string[])[0]).toBe(id)
})

test('a phone gets the address first, and no client to install', async () => {
  const { page } = await open({ userAgent: agents.phone, viewport: { width: 360, height: 640 } })
  expect(await page.innerText('section')).toContain(program.url)
  expect(await page.innerText('section')).toContain('computer')
  expect(await shown(page)).toEqual([])
  expect(await page.evaluate("document.querySelectorAll('.primary').length")).toBe(0)
  expect(await order(page)).toHaveLength(10)
})

test('every client has one action, and one of all is the first', async () => {
  const { page } = await open()
  const actions =
    "[...document.querySelectorAll('.client')].map((one) => one.querySelectorAll('.action > *').length)"
  expect(new Set((await page.evaluate(actions)) as number[])).toEqual(new Set([1]))
  expect(await page.evaluate("document.querySelectorAll('.primary').length")).toBe(1)
  expect(
    await page.evaluate(
      "document.querySelector('.client').contains(document.querySelector('.primary'))",
    ),
  ).toBe(true)
})

test('a client that has connected comes first, but not for users who share a server', async () => {
  const connect = (url: string) =>
    fetch(url, mcpHttpRequest('server/discover', {}, { meta: clientMeta({}, 'zed') }))
  await using own = await startHttpProgram()
  expect((await connect(own.url)).status).toBe(200)
  await own.waitFor(/Zed has connected/)
  const { page } = await open({}, own.url.replace(/mcp$/, ''))
  expect((await order(page)) as string[]).toEqual(expect.arrayContaining(['zed', 'cursor']))
  expect(((await order(page)) as string[])[0]).toBe('zed')
  expect(await page.innerText('#zed')).toContain('Connected')

  await using shared = await startHttpProgram({ VOICE_AGENT_BASE_URL: 'http://127.0.0.1:9' })
  const request = mcpHttpRequest('server/discover', {}, { meta: clientMeta({}, 'zed') })
  const headers = { ...request.headers, 'x-api-key': 'key' }
  expect((await fetch(shared.url, { ...request, headers })).status).toBe(200)
  await shared.waitFor(/Zed has connected/)
  const other = await open({}, shared.url.replace(/mcp$/, ''))
  expect(await other.page.innerText('main')).not.toContain('Connected')
})

test('a question is copied, to be asked', async () => {
  const { page } = await open()
  await page.evaluate('navigator.clipboard.writeText = async (text) => { window.copied = text }')
  const questions = "[...document.querySelectorAll('li [data-copy]')].map((one) => one.textContent)"
  expect(await page.evaluate(questions)).toHaveLength(3)
  await page.click('li button')
  await expect.poll(() => page.evaluate('window.copied')).toMatch(/\?$/)
})

test('a client is opened by the keyboard, and its configuration copied', async () => {
  const { page } = await open()
  await page.click('.more > summary')
  expect(await page.textContent('.more')).toContain('“MCP: List Servers”')
  await page.evaluate("document.querySelector('#zed summary').focus()")
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toContain('Zed')
  // The text that a paste would insert.
  await page.evaluate(
    "document.addEventListener('copy', () => { window.copied = String(getSelection()) }); navigator.clipboard.writeText = async (text) => { window.copied = text }",
  )
  await page.keyboard.press('Enter')
  await expect.poll(() => page.textContent('#said')).toContain('Zed')
  expect(JSON.parse(String(await page.evaluate('window.copied')))).toEqual({
    context_servers: { 'voice-agents': { url: program.url } },
  })
})

test('where there is no clipboard the text is copied from a selection', async () => {
  const { page } = await open()
  await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
  await page.evaluate(
    "document.addEventListener('copy', () => { window.copied = String(getSelection()) })",
  )
  await page.click('section > .copied button')
  await expect.poll(() => page.evaluate('window.copied')).toBe(program.url)
})

test('without scripts it says the same, and has no buttons that do nothing', async () => {
  const { page } = await open({ javaScriptEnabled: false })
  expect(await page.innerText('main')).toContain(program.url)
  await page.click('#cursor summary')
  expect(await page.innerText('#cursor')).toContain('mcpServers')
  expect(await page.evaluate("document.querySelectorAll('button').length")).toBe(0)
})
