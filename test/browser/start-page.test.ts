import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHttpProgram } from '../harness/program.ts'
import { browserOfFile, openAddress } from './browser-of-file.ts'
import { accessibilityFlaws, type PageSettings } from './open-browser.ts'

const browser = browserOfFile()
let program: Awaited<ReturnType<typeof startHttpProgram>>
let address: string
beforeAll(async () => {
  program = await startHttpProgram()
  address = program.url.replace(/mcp$/, '')
})
afterAll(() => program?.[Symbol.asyncDispose]())

const open = (settings?: PageSettings) => openAddress(browser, address, settings)

const openAll = "for (const one of document.querySelectorAll('details')) one.open = true"

test.each([
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['phone', { viewport: { width: 320, height: 568 } }],
] as const)('%s: axe finds nothing, and nothing is too wide', async (_, settings) => {
  const { page, complaints } = await open(settings)
  await page.evaluate(openAll)
  expect(await accessibilityFlaws(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')).toBe(
    false,
  )
  expect(complaints).toEqual([])
})

test('a client is opened by the keyboard, and its configuration copied', async () => {
  const { page } = await open()
  await page.evaluate("document.querySelector('#zed summary').focus()")
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(
    'Copy the configuration of Zed',
  )
  // What a paste would give.
  await page.evaluate(
    "document.addEventListener('copy', () => { window.copied = String(getSelection()) }); navigator.clipboard.writeText = async (text) => { window.copied = text }",
  )
  await page.keyboard.press('Enter')
  await expect.poll(() => page.textContent('#said')).toBe('Copied: the configuration of Zed')
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
  await page.click('.copied button')
  await expect.poll(() => page.evaluate('window.copied')).toBe(program.url)
})

test('without scripts it says the same, and has no buttons that do nothing', async () => {
  const { page } = await open({ javaScriptEnabled: false })
  expect(await page.innerText('main')).toContain(program.url)
  await page.click('#cursor summary')
  expect(await page.innerText('#cursor')).toContain('mcpServers')
  expect(await page.evaluate("document.querySelectorAll('button').length")).toBe(0)
})
