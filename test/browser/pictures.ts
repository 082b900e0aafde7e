import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import buildOnce from '../harness/build.ts'
import install from './install.ts'
import { openBrowser, type TestBrowser } from './open-browser.ts'
import { type PagePicture, pagePictures } from './page-pictures.ts'
import { type Picture, pictures } from './picture-data.ts'
import { showView } from './view-host/view-host.ts'

/*
 * npm run pictures [-- NAME …]: takes the pictures in docs/pictures, in a real Chromium: on a desktop in
 * light, on a phone in dark. Views are shown as a host shows them, with data that is made up
 * (picture-data.ts); pages are those of the built program (page-pictures.ts).
 */

const folder = join(import.meta.dirname, '../../docs/pictures')

const places = {
  desktop: { viewport: { width: 880, height: 400 }, colorScheme: 'light' },
  phone: { viewport: { width: 375, height: 400 }, colorScheme: 'dark' },
} as const

async function take(browser: TestBrowser, { name, open, ready }: Picture): Promise<void> {
  for (const [place, page] of Object.entries(places)) {
    await using platform = await open()
    const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: 'key' }
    await using view = await showView(browser, { ...platform.call, env, page })
    await view.run()
    await view.frame.waitForSelector(ready)
    // The host gives the view the room that it asks for, and the chart is drawn in it.
    await view.frame.evaluate('new Promise((done) => setTimeout(done, 500))')
    const path = join(folder, `${name}-${place}.png`)
    await view.page.screenshot({ path, fullPage: true })
    console.log(path)
  }
}

async function takePage(browser: TestBrowser, { name, show }: PagePicture): Promise<void> {
  for (const [place, settings] of Object.entries(places)) {
    const page = await browser.newPage(settings)
    await using _served = await show(page)
    const path = join(folder, `${name}-${place}.png`)
    await page.screenshot({ path, fullPage: true })
    console.log(path)
  }
}

/** The icon of the desktop bundle, from its drawing. */
async function takeIcon(browser: TestBrowser): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 512, height: 512 } })
  await page.goto(pathToFileURL(join(folder, 'icon.svg')).href)
  await page.screenshot({ path: join(folder, 'icon.png'), omitBackground: true })
}

const wanted = process.argv.slice(2)
const names = [...pictures, ...pagePictures, { name: 'icon' }].map(({ name }) => name)
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`There is no picture ${unknown.join(', ')}: ${names.join(', ')}`)
  process.exit(1)
}
install()
buildOnce()
mkdirSync(folder, { recursive: true })
const browser = await openBrowser()
const isWanted = ({ name }: { name: string }) => wanted.length === 0 || wanted.includes(name)
for (const picture of pictures.filter(isWanted)) await take(browser, picture)
for (const picture of pagePictures.filter(isWanted)) await takePage(browser, picture)
if (isWanted({ name: 'icon' })) await takeIcon(browser)
await browser[Symbol.asyncDispose]()
