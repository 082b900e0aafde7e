import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import buildOnce from '../harness/build.ts'
import install from './install.ts'
import { openBrowser, type Page, type TestBrowser } from './open-browser.ts'
import { pagePictures } from './page-pictures.ts'
import type { PagePicture, Picture } from './picture.ts'
import { showView } from './view-host/view-host.ts'
import { viewPictures } from './view-pictures.ts'

/*
 * npm run pictures [-- NAME …]: takes the screenshots in docs/pictures with a real Chromium: on a
 * desktop in light, on a phone in dark. Views run in a test host with made-up data
 * (picture-<view>.ts; states that all views have are in view-pictures.ts); pages are those of the
 * built program (page-pictures.ts). Pictures are cropped to the content.
 *
 * npm run pictures -- --all [--to FOLDER] [NAME …]: takes every state at three widths, in light and
 * dark. A NAME selects all states of a view or page, or one state of all: `usage` also
 * `usage-empty`, and `zoomed` also `usage-zoomed`.
 */

/** Screenshots in the documents: the first state of each view, the pages and the icon. */
const documented = [
  'usage',
  'call',
  'voices',
  'agent',
  'decision-call',
  'home-page',
  'web-call',
  'icon',
]

interface Place {
  /** Suffix of the file name. */
  readonly name: string
  readonly width: number
  readonly colorScheme: 'light' | 'dark'
}

const documentedPlaces: readonly Place[] = [
  { name: 'desktop', width: 880, colorScheme: 'light' },
  { name: 'phone', width: 375, colorScheme: 'dark' },
]
const allPlaces: readonly Place[] = [360, 760, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({
    ...{ name: `${width}-${colorScheme}`, width, colorScheme },
  })),
)

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean' }, to: { type: 'string' } },
})
const docsFolder = join(import.meta.dirname, '../../docs/pictures')
const folder = options.to ?? (options.all ? 'dist/pictures' : docsFolder)
const places = options.all ? allPlaces : documentedPlaces

const height = 640

/** Opens a view once, and takes its screenshot at each width and theme. */
async function take(browser: TestBrowser, picture: Picture) {
  const { open, ready, env, context, page, act, point } = picture
  await using platform = await open()
  await using view = await showView(browser, {
    ...platform.call,
    env: { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: 'key', ...env },
    ...(context && { context }),
    ...(page && { page }),
  })
  await (act ? act(view) : view.run())
  await view.frame.waitForSelector(ready)
  const shown: Shown = {
    ...{ ...view, content: 'iframe' },
    async prepare(theme) {
      await view.change({ theme })
      await settle(view.frame)
      await point?.(view)
    },
  }
  for (const place of places) await takeAt(place, picture, shown)
}

/** Opens a page afresh at each width: it may depend on the device. */
async function takePage(browser: TestBrowser, picture: PagePicture) {
  for (const place of places) {
    const viewport = { width: place.width, height }
    const device = isPhone(place) ? phone : desktop
    const page = await browser.newPage({ viewport, ...device, ...picture.page })
    await using _served = await picture.show(page)
    await takeAt(place, picture, { page, frame: page, content: 'main' })
    await page.close()
  }
}

const isPhone = ({ width }: Place) => width < 480
const phone = {
  userAgent:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
}
const desktop = {
  userAgent:
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
}

interface Shown {
  readonly page: Page
  /** Page or frame that has the text. */
  readonly frame: Pick<Page, 'evaluate'>
  /** Selector of the element that the picture is cropped to. */
  readonly content: string
  readonly prepare?: (theme: Place['colorScheme']) => Promise<void>
}

async function takeAt(
  place: Place,
  { name, isZoomed = false }: Picture | PagePicture,
  { page, frame, content, prepare }: Shown,
) {
  const { width, colorScheme } = place
  const zoom = isZoomed && !isPhone(place) ? 2 : 1
  await page.setViewportSize({ width: width / zoom, height: height / zoom })
  if (isZoomed) await frame.evaluate(textSize(isPhone(place) ? '200%' : ''))
  await page.emulateMedia({ colorScheme })
  await prepare?.(colorScheme)
  await settle(frame)
  const path = join(folder, `${name}-${place.name}.png`)
  const size = { width: width / zoom, height: Number(await page.evaluate(end(content))) }
  await page.screenshot({
    ...{ path, fullPage: true, clip: { x: 0, y: 0, ...size } },
    scale: zoom === 1 ? 'css' : 'device',
  })
  console.log(path)
}

/** Waits until the host has resized the frame, and the chart is drawn again. */
const settle = (frame: Pick<Page, 'evaluate'>) =>
  frame.evaluate('new Promise((done) => setTimeout(done, 500))')

const textSize = (size: string) => `document.documentElement.style.fontSize = '${size}'`

/** Position at which an element ends, with its margin, CSS pixels. */
const end = (selector: string) => `(() => {
  const element = document.querySelector('${selector}')
  const margin = parseFloat(getComputedStyle(element).marginBottom)
  return Math.ceil(element.getBoundingClientRect().bottom + scrollY + margin)
})()`

/** Renders icon.svg as the PNG icon of the desktop bundle. */
async function takeIcon(browser: TestBrowser): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 512, height: 512 } })
  await page.goto(pathToFileURL(join(docsFolder, 'icon.svg')).href)
  await page.screenshot({ path: join(docsFolder, 'icon.png'), omitBackground: true })
}

const names = [...viewPictures, ...pagePictures, { name: 'icon' }].map(({ name }) => name)
const isNamed = (name: string, asked: string) =>
  name === asked ||
  (options.all === true && (name.startsWith(`${asked}-`) || name.endsWith(`-${asked}`)))
const unknown = wanted.filter((asked) => !names.some((name) => isNamed(name, asked)))
if (unknown.length > 0) {
  console.error(`There is no picture ${unknown.join(', ')}: ${names.join(', ')}`)
  process.exit(1)
}
const isWanted = ({ name }: { readonly name: string }) =>
  wanted.length > 0
    ? wanted.some((asked) => isNamed(name, asked))
    : options.all || documented.includes(name)

install()
buildOnce()
mkdirSync(folder, { recursive: true })
const browser = await openBrowser()
for (const picture of viewPictures.filter(isWanted)) await take(browser, picture)
for (const picture of pagePictures.filter(isWanted)) await takePage(browser, picture)
if (!options.all && isWanted({ name: 'icon' })) await takeIcon(browser)
await browser[Symbol.asyncDispose]()
