import type { PageModel } from '../../src/oauth/pages/models.ts'
import { startHttpProgram, startPlatformProgram } from '../harness/program.ts'
import { consentForm, keyForm } from '../oauth/pages/models.ts'
import { startPageServer } from './oauth-page-server.ts'
import type { Page } from './open-browser.ts'
import type { PagePicture } from './picture.ts'

/** A page of the authorization server. */
const oauthPage = (name: string, model: PageModel): PagePicture => ({
  name,
  async show(page) {
    const server = await startPageServer()
    server.show(model)
    await page.goto(`${server.origin}/page`)
    return server
  },
})

/** The start page, opened with these flags of the server. */
const homePage = (
  name: string,
  flags: readonly string[],
  act: (page: Page) => Promise<void> = async () => undefined,
): PagePicture => ({
  name,
  async show(page) {
    const program = await startHttpProgram({}, [...flags])
    await page.goto(program.url.replace(/mcp$/, ''))
    await act(page)
    return program
  },
})

/** Opens the folded parts with these selectors, if they are closed. */
const unfold =
  (...selectors: readonly string[]) =>
  async (page: Page) => {
    for (const selector of selectors)
      await page.evaluate(`document.querySelector('${selector}').open = true`)
  }

async function pause(page: Page, ms: number): Promise<void> {
  await page.evaluate(`new Promise((done) => setTimeout(done, ${ms}))`)
}

/** The page of a web call, which a person joins to say these lines. */
const webCall = (
  name: string,
  said: readonly string[],
  act: (page: Page) => Promise<void> = async () => undefined,
  env: Readonly<Record<string, string>> = {},
): PagePicture => ({
  name,
  async show(page) {
    const program = await startPlatformProgram({ VOICE_AGENT_SANDBOX_SEED: 'full', ...env })
    // Id of the hotel's reservation agent: the first agent that the seed `full` adds to `small`.
    const agent_id = '00000000-0000-4000-8002-000000000010'
    const placed = await fetch(`${program.url}/v1/accounts/me/calls`, {
      method: 'POST',
      headers: { 'x-api-key': 'sandbox-key', 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'web', agent_id }),
    })
    const { join } = (await placed.json()) as { join: { page_url: string } }
    await page.goto(join.page_url)
    if (said.length > 0) await page.click('[value=join]')
    for (const text of said) {
      await page.fill('#text', text)
      await page.click('[value=say]')
      await pause(page, 500)
    }
    await act(page)
    return program
  },
})

const twoLines = ['Can I book a room for the weekend?', 'Friday, please.']
const again = '/oauth/authorize?client_id=c'
const onThisComputer = { ...keyForm.client, redirectUri: 'http://127.0.0.1:41233/callback' }

const home = homePage('home-page', [], unfold('#cursor details'))
const key = oauthPage('key', keyForm)
const consent = oauthPage('consent', consentForm)
const call = webCall('web-call', twoLines)

/** Each page with forced colours, and at a zoom of 200 %. */
const adapted = [home, key, consent, call].flatMap((picture): PagePicture[] => [
  { ...picture, name: `${picture.name}-forced-colours`, page: { forcedColors: 'active' } },
  {
    ...{ ...picture, name: `${picture.name}-zoomed` },
    ...{ page: { deviceScaleFactor: 2 }, isZoomed: true },
  },
])

export const pagePictures: readonly PagePicture[] = [
  key,
  oauthPage('key-wrong', { ...keyForm, problem: { kind: 'wrong' } }),
  oauthPage('key-local-program', { ...keyForm, client: onThisComputer }),
  oauthPage('key-sandbox', { ...keyForm, platform: 'sandbox' }),
  consent,
  oauthPage('consent-nothing', { ...consentForm, ticked: [], nothingTicked: true }),
  oauthPage('consent-unverified', {
    ...{ ...consentForm, isSandbox: true, ticked: ['read'] },
    client: { ...consentForm.client, known: 'by_registration' },
  }),
  oauthPage('expired', { page: 'problem', problem: 'expired', again }),
  oauthPage('answered', { page: 'problem', problem: 'answered' }),
  oauthPage('invalid', {
    ...{ page: 'problem', problem: 'invalid' },
    detail: 'redirect_uri is not one of the addresses that the program has registered.',
  }),
  oauthPage('return', {
    ...{ page: 'return', name: 'Example Chat' },
    address: 'no-such-app://callback?code=1',
  }),
  home,
  homePage('home-page-oauth', [
    ...['--oauth', '--public-url', 'https://voice.example', '--allowed-hosts', '*'],
  ]),
  homePage('home-page-all', [], unfold('.more', '#vscode-insiders details')),
  call,
  webCall('web-call-waiting', []),
  webCall('web-call-watching', [], (page) => pause(page, 3000), {
    VOICE_AGENT_SANDBOX_WEB_WAIT: '0',
  }),
  webCall('web-call-long', [...twoLines, ...twoLines, 'مرحبا، كيف حالك؟', 'Thank you.']),
  webCall('web-call-ended', twoLines, async (page) => {
    await page.click('[value=hang_up]')
    await pause(page, 500)
  }),
  webCall('web-call-away', twoLines, async (page) => {
    await page.evaluate("window.fetch = async () => { throw new Error('away') }")
    await pause(page, 1500)
  }),
  ...adapted,
]
