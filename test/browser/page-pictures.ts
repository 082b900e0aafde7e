import type { PageModel } from '../../src/oauth/pages/models.ts'
import { startHttpProgram, startPlatformProgram } from '../harness/program.ts'
import { consentForm, keyForm } from '../oauth/pages/models.ts'
import { startPageServer } from './oauth-page-server.ts'
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

const again = '/oauth/authorize?client_id=c'

export const pagePictures: readonly PagePicture[] = [
  oauthPage('key', keyForm),
  oauthPage('key-wrong', { ...keyForm, problem: { kind: 'wrong' } }),
  oauthPage('consent', consentForm),
  oauthPage('expired', { page: 'problem', problem: 'expired', again }),
  {
    name: 'home-page',
    async show(page) {
      const program = await startHttpProgram()
      await page.goto(program.url.replace(/mcp$/, ''))
      await page.click('#cursor summary')
      return program
    },
  },
  {
    name: 'web-call',
    async show(page) {
      const program = await startPlatformProgram({ VOICE_AGENT_SANDBOX_SEED: 'full' })
      // Id of the hotel's reservation agent: the first agent that the seed `full` adds to `small`.
      const agent_id = '00000000-0000-4000-8002-000000000010'
      const placed = await fetch(`${program.url}/v1/accounts/me/calls`, {
        method: 'POST',
        headers: { 'x-api-key': 'sandbox-key', 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'web', agent_id }),
      })
      const { join } = (await placed.json()) as { join: { page_url: string } }
      await page.goto(join.page_url)
      await page.click('[value=join]')
      for (const text of ['Can I book a room for the weekend?', 'Friday, please.']) {
        await page.fill('#text', text)
        await page.click('[value=say]')
        await page.evaluate('new Promise((done) => setTimeout(done, 500))')
      }
      return program
    },
  },
]
