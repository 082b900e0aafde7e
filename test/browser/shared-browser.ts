import { afterAll, beforeAll } from 'vitest'
import {
  type Browsing,
  openBrowser,
  type Page,
  type PageSettings,
  type TestBrowser,
} from './open-browser.ts'

/** A browser for all tests of a file: opened before the first test, closed after the last. */
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
 * Opens an address in a page with its own profile. `complaints`: console messages, uncaught errors,
 * and requests to other origins.
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
