import { beforeEach, describe, expect, test } from 'vitest'
import type { KeyProblem, PageModel } from '../../src/oauth/pages/models.ts'
import { consentForm, keyForm } from '../oauth/pages/models.ts'
import { doubleText, largeTextWindows, layoutFlaws } from './layout-flaws.ts'
import { type PageServer, startPageServer } from './oauth-page-server.ts'
import { accessibilityFlaws, type Page, type PageSettings } from './open-browser.ts'
import { browserOfFile } from './shared-browser.ts'

const browser = browserOfFile()
let server: PageServer
beforeEach(async () => {
  server = await startPageServer()
  return () => server[Symbol.asyncDispose]()
})

/** Opens a page and collects the browser's errors, such as violations of its policy. */
async function open(model: PageModel, settings?: PageSettings) {
  server.show(model)
  const page = await browser.newPage(settings)
  const complaints: string[] = []
  page.on('console', (message) => {
    const text = message.text()
    if (!text.includes('the server responded with a status of')) complaints.push(text)
  })
  await page.goto(`${server.origin}/page`)
  return { page, complaints }
}

const focused = (page: Page) =>
  page.evaluate('document.activeElement.value || document.activeElement.id')
const isTooWide = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth > window.innerWidth')

const hostileName = `</title><script>document.title = 'run'</script>\u202e${'a'.repeat(10_000)}`
const hostile = {
  ...keyForm.client,
  name: hostileName,
  known: 'by_registration' as const,
  redirectUri: `https://${'a'.repeat(60)}.${'b'.repeat(60)}.example/callback`,
}
const problem: KeyProblem = { kind: 'wrong' }
const models: [string, PageModel][] = [
  ['key', keyForm],
  ['wrong key', { ...keyForm, problem }],
  ['key without access', { ...keyForm, problem: { kind: 'no_access' } }],
  ['platform away', { ...keyForm, problem: { kind: 'unreachable' } }],
  [
    'program on this computer',
    { ...keyForm, client: { ...keyForm.client, redirectUri: 'http://127.0.0.1:1/' } },
  ],
  ['hostile name', { ...keyForm, client: hostile }],
  ['sandbox', { ...keyForm, platform: 'sandbox' }],
  ['consent', consentForm],
  ['consent, nothing ticked', { ...consentForm, ticked: [], nothingTicked: true }],
  [
    'consent, hostile name',
    { ...consentForm, client: hostile, account: { id: 'a', name: hostileName } },
  ],
  [
    'back to an app',
    { page: 'return', name: 'Example Chat', address: 'no-such-app://callback?code=1' },
  ],
  [
    'back to an app, hostile name',
    { page: 'return', name: hostileName, address: 'no-such-app://callback?code=1' },
  ],
  ['expired', { page: 'problem', problem: 'expired', again: '/oauth/authorize?client_id=c' }],
  ['forged', { page: 'problem', problem: 'forged' }],
  ['answered', { page: 'problem', problem: 'answered' }],
  ['invalid', { page: 'problem', problem: 'invalid', detail: hostileName }],
]

describe.each([
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 320, height: 568 } }],
  ['forced colours', { forcedColors: 'active' }],
] as const)('%s', (_, settings) => {
  test.each(models)('%s: axe finds nothing, and nothing is too wide', async (_, model) => {
    const { page, complaints } = await open(model, settings)
    expect(await accessibilityFlaws(page)).toEqual([])
    expect(await isTooWide(page)).toBe(false)
    expect(await page.title()).not.toBe('run')
    expect(complaints).toEqual([])
    expect(server.visited.filter((path) => path !== '/favicon.ico')).toEqual(['/page'])
    await page.close()
  })
})

describe.each(largeTextWindows)('at $width pixels with doubled text', (viewport) => {
  test.each(models)('%s: nothing is cut or covered', async (_, model) => {
    const { page } = await open(model, { viewport })
    await doubleText(page)
    expect(await layoutFlaws(page)).toEqual([])
    await page.close()
  })
})

test.each([keyForm, consentForm])(
  'facts of the $page page are beside their names on a phone',
  async (model) => {
    const { page } = await open(model, { viewport: { width: 360, height: 740 } })
    const sides = await page.evaluate(`[...document.querySelectorAll('.facts dt')].map((name) => {
    const [one, other] = [name, name.nextElementSibling].map((node) => node.getBoundingClientRect())
    return one.right <= other.left && one.top === other.top
  })`)
    expect(sides).toEqual((sides as boolean[]).map(() => true))
  },
)

test.each([
  [360, 100],
  [1280, 100],
  [1280, 200],
])('at %i pixels with text of size %i, a host stays on one line', async (width, size) => {
  const { page } = await open(keyForm, { viewport: { width, height: 740 } })
  await page.evaluate(`document.documentElement.style.fontSize = '${size}%'`)
  const hosts = `[...document.querySelectorAll('.host')].map((host) => {
    const range = document.createRange()
    range.selectNodeContents(host)
    return new Set([...range.getClientRects()].map(({ top }) => top)).size
  })`
  expect(await page.evaluate(hosts)).toEqual([1, 1, 1, 1])
})

test('a badge on a line of its own begins where its heading begins', async () => {
  const { page } = await open(consentForm, { viewport: { width: 360, height: 640 } })
  await doubleText(page)
  const { below, indent } = (await page.evaluate(`(() => {
    const badge = document.querySelector('legend .badge')
    const text = document.createRange()
    text.selectNodeContents(badge.previousSibling)
    const [words, box] = [text.getBoundingClientRect(), badge.getBoundingClientRect()]
    return { below: box.top - words.bottom, indent: box.left - words.left }
  })()`)) as { below: number; indent: number }
  expect(below).toBeGreaterThanOrEqual(0)
  expect(Math.abs(indent)).toBeLessThan(1)
  await page.close()
})

test('a host that is longer than a line breaks after its dots', async () => {
  const labels = Array.from({ length: 6 }, (_, at) => `${'voice'.repeat(2)}${at}`)
  const platform = { host: [...labels, 'example'].join('.') }
  const { page } = await open({ ...keyForm, platform }, { viewport: { width: 360, height: 740 } })
  const lines = await page.evaluate(`(() => {
    const lines = {}
    for (const node of document.querySelector('#key-hint .host').childNodes) {
      if (node.data === undefined) continue
      const range = document.createRange()
      range.selectNode(node)
      const { top } = range.getBoundingClientRect()
      lines[top] = (lines[top] ?? '') + node.data
      if (range.getClientRects().length > 1) lines[top] += ' (broken)'
    }
    return Object.values(lines)
  })()`)
  expect((lines as string[]).length).toBeGreaterThan(1)
  expect((lines as string[]).every((line) => line.endsWith('.'))).toBe(true)
})

test('one click selects the message for the makers of a program', async () => {
  const detail = 'redirect_uri is not one of the registered addresses.'
  const { page } = await open({ page: 'problem', problem: 'invalid', detail })
  await page.click('.sent')
  expect(await page.evaluate('getSelection().toString()')).toBe(detail)
  await page.close()
})

test('with forced colours, where all buttons have an edge, none stands out of its form', async () => {
  const { page } = await open(consentForm, { forcedColors: 'active' })
  const ends = await page.evaluate(`['.buttons', '.buttons :last-child'].map((part) =>
    Math.round(document.querySelector(part).getBoundingClientRect().right))`)
  expect(new Set(ends as number[]).size).toBe(1)
  await page.close()
})

test('dark is dark', async () => {
  const background = 'getComputedStyle(document.body).backgroundColor'
  const { page: light } = await open(keyForm, { colorScheme: 'light' })
  const { page: dark } = await open(keyForm, { colorScheme: 'dark' })
  expect(await light.evaluate(background)).toBe('rgb(245, 246, 248)')
  expect(await dark.evaluate(background)).toBe('rgb(38, 40, 44)')
})

describe('with the keyboard alone, without script', () => {
  const settings = { javaScriptEnabled: false }

  test('the key is typed and sent with Enter', async () => {
    const { page, complaints } = await open(keyForm, settings)
    await page.keyboard.press('Tab')
    await page.keyboard.type('a-key')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/sent$/)
    expect(server.sent[0]?.fields).toEqual([
      ['step', 'key'],
      ['again', keyForm.again],
      ['form_token', 'token-1'],
      ['key', 'a-key'],
      ['answer', 'continue'],
    ])
    expect(complaints).toEqual([])
  })

  test('the key form can be cancelled without a key', async () => {
    const { page } = await open(keyForm, settings)
    for (const _ of [1, 2, 3]) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/sent$/)
    expect(server.sent[0]?.fields).toContainEqual(['answer', 'cancel'])
  })

  test('the browser itself asks for a missing key', async () => {
    const { page } = await open(keyForm, settings)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('continue')
    expect(server.sent).toEqual([])
  })

  test('after a wrong key the field has the focus, and says what is wrong', async () => {
    const { page } = await open({ ...keyForm, problem }, settings)
    expect(await focused(page)).toBe('key')
    const described = await page.evaluate(
      `document.activeElement.getAttribute('aria-describedby').split(' ')
        .map((id) => document.getElementById(id).textContent).join(' ')`,
    )
    const problemText = await page.innerText('#key-problem')
    expect(problemText).not.toBe('')
    expect(described).toContain(problemText)
  })

  test('one box is cleared, calls are ticked, and the rest stays', async () => {
    const { page } = await open(consentForm, settings)
    const order = []
    for (const _ of [1, 2, 3, 4, 5, 6]) {
      await page.keyboard.press('Tab')
      order.push(await focused(page))
    }
    expect(order).toEqual(['read', 'write', 'call', 'allow', 'cancel', 'other_key'])
    for (const _ of [1, 2, 3]) await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Space')
    for (const _ of [1, 2]) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/sent$/)
    expect(server.sent[0]?.fields).toEqual([
      ['step', 'consent'],
      ['again', consentForm.again],
      ['form_token', 'token-2'],
      ['scope', 'read'],
      ['scope', 'call'],
      ['answer', 'allow'],
    ])
  })

  test('the sandbox account needs one key press', async () => {
    const { page } = await open({ ...keyForm, platform: 'sandbox' }, settings)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/sent$/)
    expect(server.sent[0]?.fields).toContainEqual(['answer', 'sandbox'])
  })
})

test('the whole row of a choice ticks its box', async () => {
  const { page } = await open(consentForm)
  await page.evaluate(`(() => {
    const { right, bottom } = document.getElementById('scope-call-hint').getBoundingClientRect()
    document.elementFromPoint(right - 2, bottom - 2).click()
  })()`)
  expect(await page.isChecked('#scope-call')).toBe(true)
})

describe('a form that was sent', () => {
  test('names the origin of its page to this server', async () => {
    const { page } = await open(keyForm)
    await page.fill('#key', 'a-key')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/sent$/)
    expect(server.sent[0]?.headers).toMatchObject({
      origin: server.origin,
      'sec-fetch-site': 'same-origin',
    })
  })

  test('leads to the client, which learns nothing of the page', async () => {
    await using client = await startPageServer()
    const redirectUri = `${client.origin}/callback`
    const { page, complaints } = await open({
      ...consentForm,
      client: { ...consentForm.client, redirectUri },
    })
    server.leadTo(`${redirectUri}?code=1`)
    await page.click('button[value=allow]')
    await page.waitForURL(`${redirectUri}?code=1`)
    expect(complaints).toEqual([])
    expect(await page.evaluate('document.referrer')).toBe('')
  })

  test.each([
    ['to the client', ''],
    ['to the client, which sends the person on to another host', '/elsewhere'],
  ])('leads over the last page %s', async (_, path) => {
    await using client = await startPageServer()
    await using other = await startPageServer()
    const address = `${client.origin}/callback?code=1`
    const end = path ? `${other.origin}${path}` : address
    if (path) client.redirectTo(end)
    // After the form, the browser loads `/sent` from this server, as after a real redirect.
    server.leadTo('/sent')
    const { page, complaints } = await open({
      ...consentForm,
      client: { ...consentForm.client, redirectUri: `${client.origin}/callback` },
    })
    server.show({ page: 'return', name: 'Example Chat', address })
    await page.click('button[value=allow]')
    await page.waitForURL(end)
    expect(client.visited).toContain('/callback?code=1')
    expect(complaints).toEqual([])
  })

  test('leads nowhere else', async () => {
    await using other = await startPageServer()
    const { page, complaints } = await open(consentForm)
    server.leadTo(`${other.origin}/stolen`)
    await page.click('button[value=allow]', { noWaitAfter: true })
    await expect.poll(() => complaints.join()).toContain('form-action')
    expect(other.visited).toEqual([])
  })
})
