import { afterAll, beforeAll } from 'vitest'
import {
  type Browsing,
  openBrowser,
  type Page,
  type PageSettings,
  type TestBrowser,
} from './open-browser.ts'

/** The browser of a test file: opened before its tests, closed behind them. */
export function browserOfFile(): Browsing {
  let opened: TestBrowser | undefined
  beforeAll(async () => {
    opened = await openBrowser()
  }, 120_000)
  afterAll(() => opened?.[Symbol.asyncDispose]())
  const browser = () => {
    if (!opened) throw new Error('The browser is open only while tests run.')
    return opened
  }
  return {
    newPage: (settings) => browser().newPage(settings),
    newPages: (count, settings) => browser().newPages(count, settings),
  }
}

/**
 * Opens an address in a page of its own, and collects what the browser complains of: messages, errors
 * that no script has caught, and requests that leave the server of the page.
 */
export async function openAddress(
  browser: Browsing,
  address: string,
  settings?: PageSettings,
): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  const page = await browser.newPage(settings)
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(address).origin) complaints.push(request.url())
  })
  await page.goto(address)
  return { page, complaints }
}
