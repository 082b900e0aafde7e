import { expect, onTestFinished } from 'vitest'
import { accessibilityFlaws, type Browsing, type PageSettings } from '../open-browser.ts'
import { type ShownView, showView, type ViewSettings } from './view-host.ts'

/** Devices on which views are tested. */
export const places = [
  ['on a desktop, light', { viewport: { width: 900, height: 700 }, colorScheme: 'light' }],
  ['on a phone, dark', { viewport: { width: 320, height: 568 }, colorScheme: 'dark' }],
] as const satisfies readonly (readonly [string, PageSettings])[]

/** A running test platform. */
interface TestPlatform extends AsyncDisposable {
  readonly url: string
}

/**
 * Shows a view until the end of the test. Its server uses the platform, which is stopped with it.
 */
export async function showOn<P extends TestPlatform>(
  platform: P,
  browser: Browsing,
  settings: ViewSettings,
): Promise<ShownView & { readonly platform: P }> {
  onTestFinished(() => platform[Symbol.asyncDispose]())
  const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: 'key' }
  return {
    ...(await showUntilEnd(browser, { ...settings, env: { ...env, ...settings.env } })),
    platform,
  }
}

/** Shows a view until the end of the test. */
export async function showUntilEnd(browser: Browsing, settings: ViewSettings): Promise<ShownView> {
  const view = await showView(browser, settings)
  onTestFinished(() => view[Symbol.asyncDispose]())
  return view
}

const background = { light: 'rgb(255, 255, 255)', dark: 'rgb(27, 28, 31)' }

/**
 * Checks that a view fits its width, is accessible, follows the host's theme and its changes, and
 * sends no requests.
 */
export async function expectWellMade(
  view: ShownView,
  { colorScheme = 'light' }: PageSettings = {},
): Promise<void> {
  const shown = 'getComputedStyle(document.documentElement).backgroundColor'
  expect(await view.frame.evaluate(shown)).toBe(background[colorScheme])
  await expectFits(view)
  const other = colorScheme === 'light' ? 'dark' : 'light'
  for (const theme of [other, colorScheme] as const) {
    await view.page.evaluate(`bridge.setHostContext({ theme: '${theme}' })`)
    await expect.poll(() => view.frame.evaluate(shown)).toBe(background[theme])
    if (theme === other) await expectFits(view)
  }
  expect(view.complaints).toEqual([])
  expect(view.requests).toEqual([])
}

/** Checks that a view fits its width and is accessible. */
export async function expectFits({ frame }: ShownView): Promise<void> {
  const isTooWide = 'document.documentElement.scrollWidth > window.innerWidth'
  expect(await frame.evaluate(isTooWide)).toBe(false)
  expect(await accessibilityFlaws(frame)).toEqual([])
}

/** The view's status line; empty if it waits for nothing. */
export const statusOf = ({ frame }: ShownView): Promise<string> => frame.innerText('#status')

/** Checks that a view shows a failure and no data, and waits for nothing. */
export async function expectNothingShown(view: ShownView): Promise<void> {
  await expect.poll(() => view.frame.innerText('#problem')).not.toBe('')
  expect(await countOf(view, '#content *')).toBe(0)
  expect(await view.frame.evaluate('document.querySelector("main").ariaBusy')).toBe('false')
}

/** Number of elements that match a selector. */
export const countOf = ({ frame }: ShownView, selector: string): Promise<unknown> =>
  frame.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`)

/** Ids of the elements in a view's tab order. */
export async function tabOrder({ frame, page }: ShownView): Promise<unknown[]> {
  const order: unknown[] = []
  await frame.evaluate('document.body.tabIndex = -1, document.body.focus()')
  for (let step = 0; step < 200; step++) {
    await page.keyboard.press('Tab')
    const id = await frame.evaluate('document.hasFocus() ? document.activeElement.id : ""')
    if (!id) return order
    order.push(id)
  }
  throw new Error(`The tabulator key stays in the view: ${order.slice(0, 20).join(', ')} …`)
}

/** Contrast ratio of two computed colours (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
      const value = Number(part) / 255
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}
