import { describe, expect, test } from 'vitest'
import { doubleText, layoutFlaws } from './layout-flaws.ts'
import { accessibilityFlaws, type PageSettings } from './open-browser.ts'
import { agentPictures } from './picture-agent.ts'
import { callPictures } from './picture-call.ts'
import { decisionPictures } from './picture-decision.ts'
import { usagePictures } from './picture-usage.ts'
import { voicesPictures } from './picture-voices.ts'
import { browserOfFile } from './shared-browser.ts'
import { countOf, expectFits, showOn, statusOf } from './view-host/checked-view.ts'
import type { ShownView } from './view-host/view-host.ts'
import { busy } from './view-pictures.ts'

/* Behaviour of all views, each with the data of its first picture. */

const browser = browserOfFile()

interface Settings {
  readonly page?: PageSettings
  readonly context?: Readonly<Record<string, unknown>>
  /** Tool whose view is shown; default: the picture's. */
  readonly tool?: string
}

const phone = { viewport: { width: 360, height: 640 } }

const pictures = [usagePictures, callPictures, voicesPictures, agentPictures, decisionPictures]

const views = pictures.map(([picture]) => {
  if (!picture) throw new Error('A view has no picture.')
  const open = async ({ page = phone, context = {}, tool }: Settings = {}) => {
    const platform = await picture.open()
    const { call } = platform
    const env = picture.env ?? {}
    return showOn(platform, browser, { ...call, ...(tool && { tool }), env, page, context })
  }
  const shown = async (settings?: Settings) => {
    const view = await open(settings)
    await view.run()
    await view.frame.waitForSelector(picture.ready)
    return view
  }
  return { name: picture.name, ready: picture.ready, open, shown }
})

const innerHeight = ({ frame }: ShownView) => frame.evaluate('window.innerHeight')

/** Checks that the end of the content can be reached by scrolling inside the view. */
async function expectScrolls({ frame }: ShownView): Promise<void> {
  const bottom = 'Math.floor(document.querySelector("main").getBoundingClientRect().bottom)'
  expect(await frame.evaluate(`${bottom} > window.innerHeight`)).toBe(true)
  await frame.evaluate(
    'for (const one of [document.scrollingElement, document.body]) one.scrollTo(0, 99999)',
  )
  expect(await frame.evaluate(`${bottom} <= window.innerHeight`)).toBe(true)
}

describe.each(views)('the view $name', ({ ready, open, shown }) => {
  test('takes the height that it needs, up to the maximum of the host', async () => {
    const view = await shown({ context: { containerDimensions: { maxHeight: 5000 } } })
    const needed = 'Math.ceil(document.querySelector("main").getBoundingClientRect().height)'
    await expect
      .poll(async () => (await innerHeight(view)) === (await view.frame.evaluate(needed)))
      .toBe(true)
    await view.change({ containerDimensions: { maxHeight: 200 } })
    await expect.poll(() => innerHeight(view)).toBe(200)
    await expectScrolls(view)
    expect(view.complaints).toEqual([])
  })

  test('scrolls in a place of fixed height', async () => {
    const view = await shown({ context: { containerDimensions: { height: 220 } } })
    expect(await innerHeight(view)).toBe(220)
    await expectScrolls(view)
  })

  test.each(['height', 'maxHeight'])(
    'keeps its head in view in a frame with a %s',
    async (limit) => {
      const view = await shown({ context: { containerDimensions: { [limit]: 540 } } })
      await expect.poll(() => innerHeight(view)).toBeLessThanOrEqual(540)
      await view.frame.evaluate(
        'for (const one of [document.scrollingElement, document.body]) one.scrollTo(0, 99999)',
      )
      const top = 'document.querySelector("h1").getBoundingClientRect().top'
      expect(await view.frame.evaluate(top)).toBeGreaterThan(0)
    },
  )

  test('asks for the full screen, and back', async () => {
    const view = await shown({ context: { availableDisplayModes: ['inline', 'fullscreen'] } })
    const label = () => view.frame.evaluate('document.querySelector("#size").ariaLabel')
    const before = await label()
    await view.frame.click('#size')
    await expect.poll(() => innerHeight(view)).toBe(phone.viewport.height)
    await expect.poll(label).not.toBe(before)
    expect(await accessibilityFlaws(view.frame)).toEqual([])
    await view.frame.click('#size')
    await expect.poll(label).toBe(before)
    expect(view.complaints).toEqual([])
  })

  test('has no button for a full screen that the host does not have', async () => {
    const view = await shown({ context: { availableDisplayModes: ['inline'] } })
    expect(await countOf(view, '#size')).toBe(0)
  })

  test('takes the colours and fonts of the host, and their changes', async () => {
    const colours = (page: string, text: string) => ({
      styles: {
        variables: {
          ...{ '--color-background-primary': page, '--color-text-primary': text },
          '--font-sans': 'Georgia, serif',
        },
      },
    })
    const view = await shown({ context: colours('rgb(255, 250, 242)', 'rgb(61, 43, 31)') })
    const style = () =>
      view.frame.evaluate(`(() => {
        const { backgroundColor, color, fontFamily } = getComputedStyle(document.body)
        return [backgroundColor, color, fontFamily]
      })()`)
    const serif = 'Georgia, serif'
    expect(await style()).toEqual(['rgb(255, 250, 242)', 'rgb(61, 43, 31)', serif])
    expect(await accessibilityFlaws(view.frame)).toEqual([])
    await view.change(colours('rgb(36, 28, 23)', 'rgb(243, 233, 220)'))
    await expect.poll(style).toEqual(['rgb(36, 28, 23)', 'rgb(243, 233, 220)', serif])
    expect(view.complaints).toEqual([])
  })

  test('shows that it waits', async () => {
    const view = await open()
    expect(await countOf(view, '.skeleton')).toBe(1)
    const animations = 'document.getAnimations().length > 0'
    expect(await view.frame.evaluate(animations)).toBe(true)
    await expect.poll(() => statusOf(view)).not.toBe('')
    expect(await accessibilityFlaws(view.frame)).toEqual([])
    await view.run()
    await view.frame.waitForSelector(ready)
    expect(await countOf(view, '#content > .skeleton')).toBe(0)
    expect(await statusOf(view)).toBe('')
  })

  test('waits in a placeholder about as high as the result', async () => {
    const view = await open()
    const height = () => view.frame.evaluate('document.querySelector("main").offsetHeight')
    const before = Number(await height())
    await view.run()
    await view.frame.waitForSelector(ready)
    const share = before / Number(await height())
    expect(share).toBeGreaterThan(0.65)
    expect(share).toBeLessThan(1.5)
  })

  test('moves nothing for people who want less motion', async () => {
    const view = await open({ page: { ...phone, reducedMotion: 'reduce' } })
    expect(await countOf(view, '.skeleton')).toBe(1)
    expect(await view.frame.evaluate('document.getAnimations().length')).toBe(0)
  })

  test('is for everybody with forced colours', async () => {
    const view = await shown({ page: { ...phone, forcedColors: 'active' } })
    await expectFits(view)
  })

  test('fits 360, 760 and 1280 pixels, and a zoom of 200 %', async () => {
    const view = await shown()
    for (const width of [360, 760, 1280]) {
      await view.page.setViewportSize({ width, height: 640 })
      await expect.poll(() => view.frame.evaluate('window.innerWidth')).toBe(width)
      await expectFits(view)
      expect(await layoutFlaws(view.frame)).toEqual([])
    }
    // A window of 1280 pixels at 200 % zoom, and the text size doubled as well.
    await view.page.setViewportSize({ width: 640, height: 400 })
    await view.frame.evaluate('document.documentElement.style.fontSize = "200%"')
    await expectFits(view)
    expect(view.complaints).toEqual([])
    expect(view.requests).toEqual([])
  })
})

test.each(views)(
  'the view $name fits a phone with doubled text: nothing is cut or covered',
  async ({ shown }) => {
    const view = await shown()
    await doubleText(view.frame)
    expect(await layoutFlaws(view.frame)).toEqual([])
  },
)

describe('a failure', () => {
  test.each(views.filter(({ name }) => name !== 'agent' && name !== 'decision'))(
    'of a read in the view $name is a sentence for people, and is read again',
    async ({ ready, open }) => {
      const view = await open()
      await view.send(busy)
      await view.frame.waitForSelector('.state.failed')
      const text = await view.text()
      expect(text).toContain('The platform did not answer')
      expect(text).not.toContain('Next:')
      // The details contain the text without the advice for models.
      await view.frame.click('#details')
      expect(await view.frame.innerText('pre')).toBe('get_it failed: HTTP 503.')
      expect(await accessibilityFlaws(view.frame)).toEqual([])
      await view.frame.click('#retry')
      await view.frame.waitForSelector(ready)
      expect(await countOf(view, '.state.failed')).toBe(0)
    },
  )

  const changing = [
    'agent/update_agent',
    'agent/create_agent',
    'call/place_call',
    'call/place_calls',
    'decision/archive_agent',
  ]
  test.each(changing)('of a tool that changes something is not repeated: %s', async (one) => {
    const [name, tool = ''] = one.split('/')
    const view = await views.find((known) => known.name === name)?.open({ tool })
    if (!view) throw new Error(`There is no view ${name}.`)
    await view.send(busy)
    await view.frame.waitForSelector('.state.failed')
    expect(await countOf(view, '#retry')).toBe(0)
    expect(await countOf(view, '#ask')).toBe(1)
    expect(await view.text()).toContain('It is not known whether anything was changed.')
    expect(view.calls).toEqual([])
  })
})
