import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import * as z from 'zod'

/*
 * A real Chromium, by Playwright. Its packages are installed separately, so their types are missing
 * here; these declare the used part (https://playwright.dev/docs/api/class-page).
 */

/** A frame of a page, such as the one that a view runs in. */
export interface Frame {
  parentFrame(): Frame | null
  click(selector: string, options?: { readonly position?: Point }): Promise<void>
  focus(selector: string): Promise<void>
  hover(selector: string, options?: { readonly position?: Point }): Promise<void>
  fill(selector: string, text: string): Promise<void>
  selectOption(selector: string, value: string): Promise<unknown>
  innerText(selector: string): Promise<string>
  waitForSelector(selector: string): Promise<unknown>
  evaluate(expression: string): Promise<unknown>
}

interface Point {
  readonly x: number
  readonly y: number
}

export interface Page {
  goto(address: string): Promise<unknown>
  goBack(): Promise<unknown>
  reload(): Promise<unknown>
  url(): string
  title(): Promise<string>
  /** The page's HTML. */
  content(): Promise<string>
  /** Sends keys to the focused element. */
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
  fill(selector: string, text: string): Promise<void>
  click(selector: string, options?: { readonly noWaitAfter?: boolean }): Promise<void>
  dblclick(selector: string): Promise<void>
  isChecked(selector: string): Promise<boolean>
  textContent(selector: string): Promise<string | null>
  innerText(selector: string): Promise<string>
  /** Evaluates an expression in the page, even if the page's policy forbids scripts. */
  evaluate(expression: string): Promise<unknown>
  waitForURL(address: string | RegExp): Promise<void>
  context(): { clearCookies(): Promise<void> }
  on(event: 'console', seen: (message: { text(): string; type(): string }) => void): void
  on(event: 'request', seen: (request: { url(): string }) => void): void
  on(event: 'pageerror', seen: (error: Error) => void): void
  frames(): Frame[]
  /** Adds a global function to the page that runs in this process. */
  exposeFunction<T>(name: string, run: (argument: T) => unknown): Promise<void>
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>
  emulateMedia(media: { readonly colorScheme: 'light' | 'dark' }): Promise<void>
  screenshot(options: {
    readonly path: string
    readonly fullPage?: boolean
    readonly clip?: Point & { readonly width: number; readonly height: number }
    /** 'css': one pixel of the picture for each CSS pixel. */
    readonly scale?: 'css' | 'device'
    readonly omitBackground?: boolean
  }): Promise<unknown>
  close(): Promise<void>
}

interface Context {
  newPage(): Promise<Page>
  close(): Promise<void>
}

export interface PageSettings {
  /** False disables scripts. */
  readonly javaScriptEnabled?: boolean
  readonly colorScheme?: 'light' | 'dark'
  /** 'active' replaces the page's colours by a user's palette, as high-contrast modes do. */
  readonly forcedColors?: 'active'
  readonly reducedMotion?: 'reduce'
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly deviceScaleFactor?: number
  readonly userAgent?: string
  readonly ignoreHTTPSErrors?: boolean
}

interface Browser {
  newContext(settings: PageSettings): Promise<Context>
  close(): Promise<void>
}

export interface Browsing {
  /** Opens a page with a profile of its own, without cookies. */
  newPage(settings?: PageSettings): Promise<Page>
  /** Opens several pages with one profile. */
  newPages(count: number, settings?: PageSettings): Promise<Page[]>
}

export interface TestBrowser extends Browsing, AsyncDisposable {}

const fromHere = createRequire(import.meta.url)

type Launch = (options: {
  executablePath?: string
  channel?: string
  args: readonly string[]
}) => Promise<Browser>
const Playwright = z.object({
  chromium: z.custom<{ launch: Launch }>((value) => typeof value === 'object'),
})
const PackagedChromium = z.custom<{ executablePath(): Promise<string> }>(
  (value) => typeof value === 'function' && 'executablePath' in value,
)

/**
 * Opens a headless Chromium: on Linux x64 the packaged one, elsewhere the installed Chrome. Its
 * rules for web pages are in force.
 */
export async function openBrowser(): Promise<TestBrowser> {
  const { chromium } = Playwright.parse(fromHere('playwright-core'))
  const isPackaged = process.platform === 'linux' && process.arch === 'x64'
  const browser = await chromium.launch({
    ...(isPackaged ? { executablePath: await unpackedChromium() } : { channel: 'chrome' }),
    // Chromium's own sandbox does not start as root, which tests in a container run as.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  const newPages = async (count: number, settings: PageSettings = {}) => {
    const context = await browser.newContext(settings)
    return Promise.all(Array.from({ length: count }, () => context.newPage()))
  }
  return {
    newPages,
    newPage: async (settings) => {
      const [page] = await newPages(1, settings)
      if (!page) throw new Error('The browser opened no page.')
      return page
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

function unpackedChromium(): Promise<string> {
  return PackagedChromium.parse(fromHere('@sparticuz/chromium')).executablePath()
}

const AxeResult = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      impact: z.string().nullable(),
      nodes: z.array(z.object({ html: z.string() })),
    }),
  ),
})

/** Accessibility violations of a page found by axe, one line each. */
export async function accessibilityFlaws(page: Pick<Page, 'evaluate'> | Frame): Promise<string[]> {
  await page.evaluate(readFileSync(fromHere.resolve('axe-core'), 'utf8'))
  const { violations } = AxeResult.parse(await page.evaluate('axe.run()'))
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html }) => `${id} (${impact}): ${html}`),
  )
}
