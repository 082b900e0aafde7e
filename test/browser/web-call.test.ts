import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { startPlatformProgram } from '../harness/program.ts'
import { doubleText, largeTextWindows, layoutFlaws } from './layout-flaws.ts'
import { accessibilityFlaws, type Page, type PageSettings } from './open-browser.ts'
import { browserOfFile, openAddress } from './shared-browser.ts'

const browser = browserOfFile()
let program: Awaited<ReturnType<typeof startPlatformProgram>>
beforeAll(async () => {
  program = await startPlatformProgram()
})
afterAll(() => program?.[Symbol.asyncDispose]())

const PlacedCall = z.object({ id: z.string(), join: z.object({ page_url: z.string() }) })
const EndedCall = z.object({
  status: z.string(),
  messages: z.array(z.object({ message: z.string() })),
})

const Refusal = z.object({ error: z.string().min(1) })

const request = async (path: string, body?: object, origin = program.url): Promise<unknown> => {
  const response = await fetch(`${origin}/v1/accounts/me/${path}`, {
    headers: { 'x-api-key': 'sandbox-key', 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  return response.json()
}

const supportAgent = '00000000-0000-4000-8002-000000000001'
const place = async (more: object = {}, origin = program.url) =>
  PlacedCall.parse(await request('calls', { type: 'web', agent_id: supportAgent, ...more }, origin))

const open = (address: string, settings?: PageSettings) => openAddress(browser, address, settings)

/** Phase of the call on the page: waiting, talking or ended. */
const phase = (page: Page) => page.evaluate("document.getElementById('lines').dataset.phase")

/** Error that the page shows; empty if there is none. */
const problem = (page: Page) => page.innerText('#error')

/** Tone of the error, and the number of its icons. */
const notice = (page: Page) =>
  page.evaluate(`[
    document.getElementById('error').dataset.tone,
    [...document.querySelectorAll('#error .icon')].filter((one) => one.checkVisibility()).length,
  ]`)

const anyProblem = expect.stringMatching(/./)

const lines = async (page: Page) => (await page.innerText('#lines')).replaceAll('\n', ' ')

test('a person joins, talks and hangs up by keyboard; another watches; the call holds what was said', async () => {
  const { id, join } = await place()
  const { page, complaints } = await open(join.page_url)
  const watcher = (await open(join.page_url)).page
  expect(await phase(page)).toBe('waiting')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => phase(page)).toBe('talking')
  // The text field has the focus.
  await page.keyboard.type('Are you a robot?')
  await page.keyboard.press('Enter')
  const isAnswered = "document.querySelector('#lines .user ~ .agent') !== null"
  await expect.poll(() => page.evaluate(isAnswered)).toBe(true)
  await expect.poll(() => lines(watcher)).toContain('Are you a robot?')
  // Only the page on which the person joined calls its reader so, first as its script renders the
  // line, then as the server does.
  const speaker = (one: Page) => one.innerText('#lines .user b')
  expect([await speaker(page), await speaker(watcher)]).toEqual(['You', 'Caller'])
  await watcher.reload()
  expect(await speaker(watcher)).toBe('Caller')
  for (let step = 0; step < 2; step++) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => phase(page)).toBe('ended')
  await expect.poll(() => phase(watcher)).toBe('ended')
  // The focused form is gone, so the focus moves to the instructions.
  expect(await page.evaluate('document.activeElement.id')).toBe('end')
  const last = '#lines .event:last-child span'
  expect(await page.innerText(last)).toBe('You hung up.')
  expect(await watcher.innerText(last)).toBe('The caller hung up.')
  await page.reload()
  expect([await speaker(page), await page.innerText(last)]).toEqual(['You', 'You hung up.'])
  expect(complaints).toEqual([])

  const { status, messages } = EndedCall.parse(await request(`calls/${id}`))
  expect(status).toBe('completed')
  const said = messages.map(({ message }) => message)
  expect(said).toContain('Are you a robot?')
  expect(said.at(-1)).toBe('The caller hung up.')
  for (const message of said.slice(0, -1)) expect(await lines(page)).toContain(message)
})

describe.each([
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 320, height: 568 } }],
  ['dark phone', { colorScheme: 'dark', viewport: { width: 320, height: 568 } }],
  ['forced colours', { forcedColors: 'active' }],
] as const)('%s', (_, settings) => {
  test('axe finds nothing, and nothing is too wide, whatever is said', async () => {
    const hostile = `<img src=x onerror="document.title='run'">\u202e${'a'.repeat(900)}`
    const { join } = await place({ overrides: { name: '<b>'.repeat(16) }, initial_text: hostile })
    const { page, complaints } = await open(join.page_url, settings)
    expect(await accessibilityFlaws(page)).toEqual([])
    await page.click('[value=join]')
    await expect.poll(() => lines(page)).toContain('onerror')
    // First as the page's script renders it, then as the server does.
    for (const reload of [false, true]) {
      if (reload) await page.reload()
      expect(await accessibilityFlaws(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
      expect(await page.evaluate("document.querySelectorAll('#lines img').length")).toBe(0)
    }
    expect(await page.title()).toContain('simulated')
    await page.click('[value=hang_up]')
    await expect.poll(() => phase(page)).toBe('ended')
    expect(await accessibilityFlaws(page)).toEqual([])
    expect(complaints).toEqual([])
  })
})

test.each(largeTextWindows)(
  'at $width pixels with doubled text, nothing is cut or covered',
  async (viewport) => {
    const { join } = await place()
    const { page } = await open(join.page_url, { viewport })
    const expectWhole = async () => {
      await doubleText(page)
      expect(await layoutFlaws(page)).toEqual([])
    }
    await expectWhole()
    await page.click('[value=join]')
    await expect.poll(() => phase(page)).toBe('talking')
    await page.fill('#text', 'What are your opening hours?')
    await page.click('[value=say]')
    await expect.poll(() => lines(page)).toContain('nine to six')
    await expectWhole()
    await page.click('[value=hang_up]')
    await expect.poll(() => phase(page)).toBe('ended')
    await expectWhole()
  },
)

test('the person is at the end, the agent at the start in the colour of the call view', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url)
  await page.click('[value=join]')
  for (const said of ['مرحبا', 'What are your opening hours?']) {
    await page.fill('#text', said)
    await page.click('[value=say]')
    await expect.poll(() => lines(page)).toContain(said)
  }
  await expect.poll(() => lines(page)).toContain('nine to six')
  const looks = `['agent', 'user'].map((role) => {
    const words = document.querySelector('#lines .' + role + ' span')
    const box = document.getElementById('lines').getBoundingClientRect()
    const { left, right } = words.getBoundingClientRect()
    const { backgroundColor, borderTopLeftRadius, borderTopRightRadius } = getComputedStyle(words)
    const isColoured = backgroundColor !== 'rgba(0, 0, 0, 0)'
    const corners = [borderTopLeftRadius, borderTopRightRadius]
    return [left - box.left < 2, box.right - right < 2, isColoured, ...corners]
  })`
  // The pointed corner is on the speaker's side, also of right-to-left text.
  const atLeft = [true, false]
  const atRight = [false, true]
  expect(await page.evaluate(looks)).toEqual([
    [...atLeft, true, '0px', '12px'],
    [...atRight, false, '12px', '0px'],
  ])
  await page.evaluate("document.documentElement.dir = 'rtl'")
  expect(await page.evaluate(looks)).toEqual([
    [...atRight, true, '12px', '0px'],
    [...atLeft, false, '0px', '12px'],
  ])
})

test('the page says how to talk before the call, and what to do next after it', async () => {
  const { id, join } = await place()
  const { page } = await open(join.page_url)
  const text = () => page.innerText('main')
  expect(await text()).toContain('You type what you would say.')
  await page.click('[value=join]')
  await expect.poll(() => phase(page)).toBe('talking')
  await page.click('[value=hang_up]')
  await expect.poll(() => phase(page)).toBe('ended')
  expect(await text()).toContain('You can close this page.')
  expect(await text()).not.toContain('You type')
  // Nobody gave the call its id.
  expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain(id)
})

test('the caller of a call that nobody joined is not the reader', async () => {
  await using watched = await startPlatformProgram({ VOICE_AGENT_SANDBOX_WEB_WAIT: '0' })
  const { join } = await place({}, watched.url)
  const { page } = await open(join.page_url)
  const speakers = "[...document.querySelectorAll('#lines .user b')].map((one) => one.innerText)"
  await expect.poll(() => page.evaluate(speakers)).toContain('Simulated caller')
  // First as the page's script renders it, then as the server does.
  for (const reload of [false, true]) {
    if (reload) await page.reload()
    expect(new Set((await page.evaluate(speakers)) as string[])).toEqual(
      new Set(['Simulated caller']),
    )
  }
  // The end takes no focus from a reader who watched.
  await expect.poll(() => phase(page), { timeout: 20_000 }).toBe('ended')
  expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY')
  expect(await accessibilityFlaws(page)).toEqual([])
})

test('the sign of a running call moves, but not for people who want less motion', async () => {
  const { join } = await place()
  for (const [reducedMotion, moving] of [
    [undefined, 1],
    ['reduce', 0],
  ] as const) {
    const { page } = await open(join.page_url, { ...(reducedMotion && { reducedMotion }) })
    if (moving > 0) await page.click('[value=join]')
    await expect.poll(() => phase(page)).toBe('talking')
    expect(await page.evaluate('document.getAnimations().length')).toBe(moving)
  }
})

test('an error does not cover the last line', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url, { viewport: { width: 360, height: 640 } })
  await page.click('[value=join]')
  for (const said of ['I need a table.', 'On Friday.', 'Thank you.']) {
    await page.fill('#text', said)
    await page.click('[value=say]')
    await expect.poll(() => lines(page)).toContain(said)
  }
  await page.evaluate("window.fetch = async () => { throw new Error('away') }")
  await expect.poll(() => problem(page)).toEqual(anyProblem)
  const hidden = `(() => {
    const box = document.getElementById('lines')
    return box.scrollHeight - box.scrollTop - box.clientHeight
  })()`
  await expect.poll(() => page.evaluate(hidden)).toBeLessThan(2)
})

test('the length of the call runs while it does, and stays when it has ended', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url)
  await page.click('[value=join]')
  const clock = () => page.textContent('#clock')
  await expect.poll(clock).toMatch(/[1-9]/)
  await page.click('[value=hang_up]')
  await expect.poll(() => phase(page)).toBe('ended')
  const lasted = await page.textContent('#lasted')
  expect(lasted).toMatch(/^\d+:\d\d$/)
  await page.reload()
  expect(await page.textContent('#lasted')).toBe(lasted)
})

test('on a phone, the button that hangs up is apart from the one that says something', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url, { viewport: { width: 360, height: 640 } })
  await page.click('[value=join]')
  await expect.poll(() => phase(page)).toBe('talking')
  const distance = `document.querySelector('[value=hang_up]').getBoundingClientRect().top
    - document.querySelector('[value=say]').getBoundingClientRect().bottom`
  expect(await page.evaluate(distance)).toBeGreaterThanOrEqual(24)
})

test('without scripts a person talks by forms', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url, { javaScriptEnabled: false })
  await page.click('[value=join]')
  await page.fill('#text', 'What are your opening hours?')
  await page.click('[value=say]')
  expect(await lines(page)).toContain('nine to six')
  expect(page.url()).toBe(`${join.page_url}?joined`)
  expect(await page.innerText('#lines .user b')).toBe('You')
  await page.click('[value=hang_up]')
  expect(await phase(page)).toBe('ended')
})

test('a person is told when the sandbox does not answer, and what was typed stays', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url)
  await page.click('[value=join]')
  await expect.poll(() => phase(page)).toBe('talking')
  await page.fill('#text', 'Hello?')
  // In one step, before the page knows that the connection is lost.
  await page.evaluate(
    "window.fetch = async () => { throw new Error('away') }; document.querySelector('[value=say]').click()",
  )
  await expect.poll(() => problem(page)).toEqual(anyProblem)
  expect(await page.evaluate("document.getElementById('text').value")).toBe('Hello?')
})

test('one notice says that the page reconnects, and nothing can be said until it has', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url)
  await page.click('[value=join]')
  const canSay = () =>
    page.evaluate("document.querySelector('[value=say]').ariaDisabled !== 'true'")
  await page.fill('#text', 'What are your opening hours?')
  await expect.poll(() => page.innerText('#status')).toBe('Call in progress')
  await page.evaluate(
    "window.read = window.fetch; window.fetch = async () => { throw new Error('away') }",
  )
  await expect
    .poll(() => problem(page))
    .toBe(
      'Connection lost. Trying again … You can send when it is back. Hanging up may not get through until then.',
    )
  expect(await notice(page)).toEqual(['warning', 1])
  expect(await page.innerText('#status')).toBe('Call in progress')
  expect(await canSay()).toBe(false)
  await page.evaluate("document.getElementById('text').focus()")
  await page.keyboard.press('Enter')
  await page.evaluate('window.fetch = window.read')
  await expect.poll(() => problem(page)).toBe('')
  expect(await lines(page)).not.toContain('opening hours')
  expect(await canSay()).toBe(true)
  await page.keyboard.press('Enter')
  await expect.poll(() => lines(page)).toContain('nine to six')
})

test('what was done while the sandbox was away is told, and not cleared when it is back', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url)
  await page.click('[value=join]')
  await expect.poll(() => phase(page)).toBe('talking')
  await page.evaluate(
    "window.read = window.fetch; window.fetch = async () => { throw new Error('away') }",
  )
  await page.click('[value=hang_up]')
  await expect.poll(() => problem(page)).toEqual(anyProblem)
  const isAway = await problem(page)
  await page.evaluate('window.fetch = window.read')
  await expect.poll(() => problem(page)).not.toBe(isAway)
  const isBack = await problem(page)
  await page.evaluate('new Promise((done) => setTimeout(done, 1500))')
  expect(await problem(page)).toBe(isBack)
  expect(isBack).toEqual(anyProblem)
  await page.click('[value=hang_up]')
  await expect.poll(() => phase(page)).toBe('ended')
  expect(await problem(page)).toBe('')
})

test('what could not be done is told until the next action', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url)
  const late = (await open(join.page_url)).page
  // The second page has not yet read that another person has joined.
  await late.evaluate(
    'window.read = window.fetch; window.fetch = (path, options) => options ? window.read(path, options) : new Promise(() => {})',
  )
  await page.click('[value=join]')
  await expect.poll(() => phase(page)).toBe('talking')
  await late.evaluate("window.fetch = window.read; document.querySelector('[value=join]').click()")
  await expect.poll(() => problem(late)).toEqual(anyProblem)
  const refusal = await problem(late)
  expect(await notice(late)).toEqual(['danger', 1])
  await late.evaluate('new Promise((done) => setTimeout(done, 2500))')
  expect(await problem(late)).toBe(refusal)
  expect(await phase(late)).toBe('talking')
})

test('an open page says that its call is gone when the sandbox was started afresh', async () => {
  const { join } = await place()
  const { page } = await open(join.page_url)
  // As after a restart of a sandbox in memory: the page stays open, its address is gone.
  await page.evaluate(
    "window.read = window.fetch; window.fetch = (path, options) => window.read(path.replace(/[0-9a-f]{32}/, 'none'), options)",
  )
  const answer = await fetch(`${program.url}/web-calls/none/state`)
  expect(answer.status).toBe(404)
  await expect.poll(() => problem(page)).toBe(Refusal.parse(await answer.json()).error)
  // Nothing can be done with it, until it is there again.
  const shown = "[...document.querySelectorAll('[data-for]')].filter((one) => !one.hidden).length"
  expect(await page.evaluate(shown)).toBe(0)
  await page.evaluate('window.fetch = window.read')
  await expect.poll(() => page.innerText('#status')).toBe('Waiting for you')
  expect(await problem(page)).toBe('')
})

test('an address without a call says what to do', async () => {
  const { page } = await open(`${program.url}/web-calls/none`)
  expect(await page.innerText('main')).toMatchSnapshot()
  expect(await accessibilityFlaws(page)).toEqual([])
})

// Windows cannot pause a process.
test.skipIf(process.platform === 'win32')(
  'a server that does not answer is told, and the page goes on when it does',
  async () => {
    const { join } = await place()
    const { page } = await open(join.page_url)
    await page.click('[value=join]')
    await expect.poll(() => phase(page)).toBe('talking')
    program.process.kill('SIGSTOP')
    try {
      await expect.poll(() => problem(page), { timeout: 25_000 }).toEqual(anyProblem)
    } finally {
      program.process.kill('SIGCONT')
    }
    await expect.poll(() => problem(page)).toBe('')
  },
  60_000,
)
