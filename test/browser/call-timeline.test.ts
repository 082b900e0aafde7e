import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { at, ended, on, phone, showCallIn, turnsOf } from './call-view-setup.ts'
import { accessibilityFlaws } from './open-browser.ts'
import { browserOfFile } from './shared-browser.ts'
import { contrast, countOf, expectFits, places, tabOrder } from './view-host/checked-view.ts'
import type { ShownView } from './view-host/view-host.ts'

const browser = browserOfFile()
const show = showCallIn(browser)

test('agent and caller keep their colours with forced colours', async () => {
  const view = await show(ended, { page: { forcedColors: 'active' } })
  await view.run()
  await view.frame.waitForSelector('.segment')
  const colours = await view.frame.evaluate(
    `['.segment.agent', '.key.agent', '.segment.user', '.key.user'].map((one) =>
      getComputedStyle(document.querySelector(one)).backgroundColor)`,
  )
  const [agent, agentKey, user, userKey] = colours as string[]
  expect([agentKey, userKey]).toEqual([agent, user])
  expect(agent).not.toBe(user)
  expect(`${agent} ${user}`).not.toContain('rgba')
})

describe.each(places)('a call %s', (_, page) => {
  test('has a timeline that contrasts with its ground', async () => {
    const long = { ...ended, ended_at: at(6000), messages: turnsOf(500, 12) }
    const view = await show(long, { page })
    await view.run()
    await view.frame.waitForSelector('.strip .unread')
    const colours = (await view.frame.evaluate(`(() => {
      const style = (selector) => getComputedStyle(document.querySelector(selector))
      const strip = style('.strip').backgroundColor
      const hatch = style('.unread').backgroundImage.match(/rgba?\\([^)]+\\)/)[0]
      const marks = ['.segment.agent', '.segment.user', '.key.agent', '.key.user']
        .map((one) => style(one).opacity === '1' && style(one).backgroundColor)
      return [strip, hatch, style('.needle').backgroundColor, ...marks]
    })()`)) as string[]
    const [ground = '', ...marks] = colours
    expect(marks.length).toBe(6)
    for (const mark of marks) {
      expect(mark).toMatch(/^rgb\(/)
      expect(contrast(mark, ground), mark).toBeGreaterThanOrEqual(3)
    }
  })
})

describe('the timeline is in step with the transcript', () => {
  const many = { ...ended, ended_at: at(600), messages: turnsOf(60, 10) }
  const current = ({ frame }: ShownView) =>
    frame.evaluate('document.querySelector(".turn[aria-current]")?.value')
  const isInView = ({ frame }: ShownView, turn: number) =>
    frame.evaluate(`(() => {
      const box = document.getElementById('turns').getBoundingClientRect()
      const { top, bottom } = document.getElementById('turn-${turn}').getBoundingClientRect()
      return top >= box.top && bottom <= box.bottom
    })()`)

  test('its keys and clicks move to a turn, and scrolling marks the turn in view', async () => {
    const view = await show(many)
    await view.run()
    await view.frame.waitForSelector('.turn')
    expect(await current(view)).toBe(1)
    await view.frame.focus('#timeline')
    await view.page.keyboard.press('PageUp')
    // The scrolling to the turn does not mark another one.
    await sleep(300)
    expect(await current(view)).toBe(11)
    await view.page.keyboard.press('End')
    expect(await current(view)).toBe(60)
    expect(await isInView(view, 60)).toBe(true)
    const value = 'document.getElementById("timeline").ariaValueText'
    expect(await view.frame.evaluate(value)).toBe('9:50, Caller: Words of turn 60.')
    await view.page.keyboard.press('ArrowLeft')
    expect(await current(view)).toBe(59)
    // A click on the middle of the timeline.
    await view.frame.click('#timeline')
    expect([30, 31]).toContain(await current(view))
    expect(await isInView(view, 30)).toBe(true)
    await view.frame.evaluate('document.getElementById("turns").scrollTop = 0')
    await expect.poll(() => current(view)).toBe(1)
    expect(await view.frame.evaluate(value)).toMatch(/^0:00, /)
    expect(await countOf(view, '.segment[data-current]')).toBe(1)
  })

  test('fits a phone with twice the text size', async () => {
    const view = await show(many, { page: phone })
    await view.run()
    await view.frame.waitForSelector('.turn')
    await view.frame.evaluate('document.documentElement.style.fontSize = "200%"')
    await expectFits(view)
    expect(await on(view, 'h1', 'one.scrollWidth - one.clientWidth')).toBe(0)
    // The groups of the number are on two lines, which begin at the same place.
    const lefts = `new Set([...document.querySelectorAll('h1 .phone > span')]
      .filter((one, at, all) => at === 0 || one.offsetTop > all[at - 1].offsetTop)
      .map((one) => one.getBoundingClientRect().left))`
    expect(await view.frame.evaluate(`${lefts}.size`)).toBe(1)
    expect(
      await on(view, 'h1 .phone', 'one.offsetHeight > 1.5 * one.firstChild.offsetHeight'),
    ).toBe(true)
    // A long turn takes the whole width.
    expect(await on(view, '.words', 'getComputedStyle(one).maxWidth')).toBe('100%')
  })

  test('a speaker who is not known has bars of their own, and no bar runs on to an event', async () => {
    const messages = [
      { role: 'agent', message: 'Good morning.', timestamp: at(0) },
      { role: 'user', message: 'Hello.', timestamp: at(4) },
      { role: 'unknown', message: 'Hello?', timestamp: at(9) },
      { role: 'event', message: 'The caller has hung up.', timestamp: at(40) },
    ]
    const view = await show({ ...ended, ended_at: at(40), messages }, { page: phone })
    await view.run()
    await view.frame.waitForSelector('.segment')
    const bars = `[...document.querySelectorAll('.segment')].map(({ classList, dataset }) =>
      [classList[1], dataset.from, dataset.to])`
    expect(await view.frame.evaluate(bars)).toEqual([
      ['agent', '0', '4'],
      ['user', '4', '9'],
      ['unknown', '9', '12'],
    ])
    expect(await view.frame.innerText('figcaption')).toMatch(/Front desk\s+Caller\s+Unknown\s/)
    expect(await view.frame.innerText('#turn-4')).toBe('The caller has hung up. 0:40')
    expect(await on(view, '.segment.unknown', 'getComputedStyle(one).backgroundImage')).toContain(
      'gradient',
    )
    // The control for the recording has its word on a phone, too.
    expect(await view.frame.innerText('#recording')).toMatch(/^Recording\s*↗$/)
    await expectFits(view)
    // Neither at the caller's side nor at the agent's.
    const distance = `(({ left, right }, list) => Math.round(left - list.left) - Math.round(list.right - right))(
      document.querySelector('.unknown .words').getBoundingClientRect(),
      document.querySelector('.turns').getBoundingClientRect())`
    expect(await view.frame.evaluate(distance)).toBe(0)
  })

  test('in a long call on a phone, its bars are spans of time that can be told and hit', async () => {
    const long = { ...ended, ended_at: at(3600), messages: turnsOf(500, 7) }
    const view = await show(long, { page: phone })
    await view.run()
    await expect.poll(() => countOf(view, '.segment')).toBeLessThan(100)
    const narrowest = `Math.min(...[...document.querySelectorAll('.segment')]
      .map((one) => one.getBoundingClientRect().width))`
    expect(await view.frame.evaluate(narrowest)).toBeGreaterThanOrEqual(6)
    const loaded = Number(await countOf(view, '.turn'))
    expect(loaded).toBeLessThan(500)
    // The fifth bar.
    await view.frame.click('#timeline', { position: { x: 4.5 * 7, y: 10 } })
    const bar =
      '[...document.querySelectorAll(".segment.agent")].indexOf(document.querySelector(".segment.agent[data-current]"))'
    expect(await view.frame.evaluate(bar)).toBe(4)
    // A ring would cover the next bars; the needle marks the place.
    const outline = "getComputedStyle(document.querySelector('[data-current]')).outlineStyle"
    expect(await view.frame.evaluate(outline)).toBe('none')
    expect(Number(await current(view))).toBeGreaterThan(10)
    // The part that is not loaded loads more.
    await view.frame.click('#timeline', { position: { x: 320, y: 10 } })
    await expect.poll(() => countOf(view, '.turn')).toBeGreaterThan(loaded)
  })

  test('a turn opens the recording at its second', async () => {
    const view = await show(many)
    await view.run()
    await view.frame.focus('#timeline')
    await view.page.keyboard.press('ArrowRight')
    await view.frame.click('#at-2')
    await view.frame.click('#at-3')
    const address = 'https://files.example/recording.mp3'
    await expect.poll(() => view.opened).toEqual([`${address}#t=10`, `${address}#t=20`])
    // Of the turns' times, only that of the current turn is in the tab order.
    expect(await tabOrder(view)).toEqual(['timeline', 'recording', 'turns', 'at-2'])
  })

  test('all of it stays in view in a place of bounded height, and the turns scroll', async () => {
    const context = { containerDimensions: { maxHeight: 600 } }
    const view = await show(many, { context })
    await view.run()
    await view.frame.waitForSelector('.turn')
    const heights = 'document.querySelector("main").getBoundingClientRect().height'
    expect(await view.frame.evaluate(heights)).toBe(600)
    await view.frame.focus('#timeline')
    await view.page.keyboard.press('End')
    expect(await isInView(view, 60)).toBe(true)
    const scrolled = 'document.scrollingElement.scrollTop'
    expect(await view.frame.evaluate(scrolled)).toBe(0)
    expect(await accessibilityFlaws(view.frame)).toEqual([])
  })
})
