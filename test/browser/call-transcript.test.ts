import { describe, expect, test } from 'vitest'
import { at, ended, messagesOf, on, phone, said, showCallIn, turnsOf } from './call-view-setup.ts'
import { accessibilityFlaws } from './open-browser.ts'
import { browserOfFile } from './shared-browser.ts'
import { countOf, expectFits, tabOrder } from './view-host/checked-view.ts'
import type { ShownView } from './view-host/view-host.ts'

const browser = browserOfFile()
const show = showCallIn(browser)

describe('the transcript', () => {
  test('has right-to-left turns in their own direction, on the side of their speaker', async () => {
    const messages = messagesOf(
      ['صباح الخير.', 'أريد تغيير موعدي.', 'كيف يمكنني مساعدتك؟', 'شكرا.'],
      5,
    )
    const view = await show({ ...ended, agent_name: 'مكتب الاستقبال', messages })
    await view.run()
    await view.frame.waitForSelector('.turn.user')
    // The first turn is the one in view, and has a bar.
    const shapes = await view.frame.evaluate(`[3, 4].map((turn) => {
      const words = document.querySelector('#turn-' + turn + ' .words')
      const style = getComputedStyle(words)
      const list = document.querySelector('.turns').getBoundingClientRect()
      const { left, right } = words.getBoundingClientRect()
      return {
        direction: style.direction,
        side: left - list.left < list.right - right ? 'left' : 'right',
        corner: style.borderTopLeftRadius === '0px' ? 'left' : 'right',
      }
    })`)
    expect(shapes).toEqual([
      { direction: 'rtl', side: 'right', corner: 'right' },
      { direction: 'rtl', side: 'left', corner: 'left' },
    ])
    await expectFits(view)
  })

  test.each([
    ['', {}],
    [', with forced colours, too', { forcedColors: 'active' } as const],
  ])('marks the turn in view by a bar at its speaker’s side%s', async (_, page) => {
    const view = await show(ended, { page })
    await view.run()
    await view.frame.waitForSelector('.turn')
    const borders = () =>
      view.frame.evaluate(`[1, 2, 3].map((turn) => {
        const style = getComputedStyle(document.querySelector('#turn-' + turn + ' > :last-child'))
        return [style.borderLeftWidth, style.borderRightWidth].map(parseFloat)
      })`)
    expect(await borders()).toEqual([
      [1, 3],
      [1, 1],
      [0, 0],
    ])
    await view.frame.focus('#timeline')
    await view.page.keyboard.press('ArrowRight')
    expect(await borders()).toEqual([
      [1, 1],
      [3, 1],
      [0, 0],
    ])
    await view.page.keyboard.press('ArrowRight')
    expect(await borders()).toEqual([
      [1, 1],
      [1, 1],
      [3, 0],
    ])
  })

  test.each([
    ['the agent only', ['agent'], undefined],
    ['the caller', ['agent', 'user'], 'Unverified: what the caller says'],
    ['somebody unknown', ['unknown'], 'Unverified: what unknown speakers say'],
    ['both', ['user', 'unknown'], 'Unverified: what the caller and unknown speakers say'],
  ])('marks as unverified what was said by %s', async (_, roles, mark) => {
    const messages = roles.map((role) => ({ role, message: 'Hello.', timestamp: at(0) }))
    const view = await show({ ...ended, messages }, { page: phone })
    await view.run()
    await view.frame.waitForSelector('.turn')
    const marks = '[...document.querySelectorAll(".transcript .badge")].map((one) => one.innerText)'
    expect(await view.frame.evaluate(marks)).toEqual(mark === undefined ? [] : [mark])
    // Where the mark is not, the heading is.
    expect(await on(view, '#transcript', 'getComputedStyle(one).position')).toBe(
      mark === undefined ? 'static' : 'absolute',
    )
  })

  test('keeps the unverified mark in view while its turns scroll', async () => {
    const context = { containerDimensions: { maxHeight: 640 } }
    const view = await show({ ...ended, messages: turnsOf(40, 5) }, { context, page: phone })
    await view.run()
    await view.frame.waitForSelector('.turn')
    const mark = `(() => {
      const { top, bottom, left, right } =
        document.querySelector('.transcript .badge').getBoundingClientRect()
      return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth
    })()`
    expect(await view.frame.evaluate(mark)).toBe(true)
    await view.frame.evaluate('document.getElementById("turns").scrollTop = 99999')
    await expect.poll(() => on(view, '#turns', 'one.scrollTop > 0')).toBe(true)
    expect(await view.frame.evaluate(mark)).toBe(true)
    // The turns begin in the upper 45 % of a bounded place.
    expect(await on(view, '#turns', 'one.getBoundingClientRect().top')).toBeLessThan(288)
  })

  test('takes the height of its turns if few would be hidden, and else shows that it goes on', async () => {
    const hidden = (view: ShownView) => on(view, '#turns', 'one.scrollHeight - one.clientHeight')
    const short = await show({ ...ended, messages: turnsOf(8, 5) }, { page: phone })
    await short.run()
    await short.frame.waitForSelector('.turn')
    await expect.poll(() => hidden(short)).toBe(0)
    expect(await on(short, '#turns', 'one.clientHeight')).toBeGreaterThan(576)
    const long = await show({ ...ended, messages: turnsOf(20, 5) }, { page: phone })
    await long.run()
    await long.frame.waitForSelector('.turn')
    expect(await hidden(long)).toBeGreaterThan(200)
    await expect.poll(() => on(long, '#turns', 'one.dataset.more.includes("below")')).toBe(true)
  })
})

test('a turn that is cut says how much is left out, and no character is cut in half', async () => {
  const message = `${'w'.repeat(3999)}😀${'w'.repeat(320)}`
  const messages = [{ role: 'user', message, timestamp: at(0) }]
  const view = await show(ended)
  const spoken = messages.map((one, turn) => ({ ...one, turn: turn + 1 }))
  const transcript = { turns: 1, returned: 1, next_turn: null, spoken }
  await view.send({ content: [], structuredContent: { ...ended, messages: undefined, transcript } })
  await view.frame.waitForSelector('.turn')
  expect(await view.text()).toMatch(/w … .*\b322\b/)
})

test('the recording is opened by the host, and the keyboard reaches everything', async () => {
  const view = await show(ended)
  await view.run()
  await view.frame.waitForSelector('#recording')
  // Nothing is played in the view: the arrow says that a link is opened.
  expect(await view.frame.innerText('#at-1')).toMatch(/^0:00\s*↗$/)
  expect(await countOf(view, '.turn .icon')).toBe(0)
  expect(await tabOrder(view)).toEqual(['timeline', 'recording', 'turns', 'at-1', 'result-3'])
  await view.frame.click('#recording')
  await expect.poll(() => view.opened).toEqual(['https://files.example/recording.mp3'])
  expect(view.requests).toEqual([])
})

test('a recording that the host does not open is shown by its address', async () => {
  const view = await show(ended)
  await view.run()
  await view.frame.waitForSelector('#recording')
  await view.page.evaluate('bridge.onopenlink = async () => ({ isError: true })')
  await view.frame.click('#recording')
  await expect.poll(view.text).toContain('https://files.example/recording.mp3')
})

test('a recording at an address that is no web page is text', async () => {
  const capture = { recording_url: 'javascript:alert(1)' }
  const view = await show({ ...ended, capture })
  await view.run()
  await view.frame.waitForSelector('.turn')
  expect(await countOf(view, '#recording')).toBe(0)
  expect(await view.text()).toContain('javascript:alert(1)')
})

test('a search shows its turns, and all of them when asked', async () => {
  const view = await show(ended, { args: { call_id: 'call-1', search: 'monday' } })
  await view.run()
  await view.frame.waitForSelector('#more')
  expect(await view.frame.innerText('.more span')).toBe('2 of 5 turns, matching “monday”')
  expect(await view.frame.innerText('#more')).toBe('Show the whole conversation')
  await view.frame.click('#more')
  await expect.poll(() => countOf(view, '.turn')).toBe(5)
})

test('turns that are missing in between are read, too', async () => {
  const view = await show(ended)
  const spoken = [1, 2, 5].map((turn) => ({ ...said[turn - 1], turn }))
  const transcript = { turns: 5, returned: 3, next_turn: null, spoken }
  await view.send({ content: [], structuredContent: { ...ended, messages: undefined, transcript } })
  await view.frame.waitForSelector('#more')
  expect(await view.frame.innerText('.more span')).toBe('3 of 5 turns')
  await view.frame.click('#more')
  await expect.poll(() => countOf(view, '.turn')).toBe(5)
  expect(view.calls).toEqual([{ name: 'get_call', arguments: { call_id: 'call-1', from_turn: 3 } }])
})

test('a search that finds nothing says so, and all turns are shown when asked', async () => {
  const view = await show(ended, { args: { call_id: 'call-1', search: 'no such words' } })
  await view.run()
  await view.frame.waitForSelector('#more')
  expect(await view.frame.innerText('.more span')).toBe('None of 5 turns matches “no such words”.')
  expect(await view.text()).not.toContain('Unverified')
  expect(await countOf(view, '#turns')).toBe(0)
  expect(await accessibilityFlaws(view.frame)).toEqual([])
  await view.frame.click('#more')
  await expect.poll(() => countOf(view, '.turn')).toBe(5)
  expect(await view.text()).not.toContain('no such words')
})

test('a long word breaks with hyphens, which no copied text has, and an address with none', async () => {
  const word = 'Rechtsschutzversicherungsgesellschaften'
  const address = 'https://example.com/terminverwaltungsbestaetigungen'
  const text = `“${word}”, see ${address}. Donaudampfschifffahrtsnummer42!`
  const messages = [{ role: 'user', message: text, timestamp: at(0) }]
  const view = await show({ ...ended, messages }, { page: phone })
  await view.run()
  await view.frame.waitForSelector('.turn')
  const words = String(await on(view, '.words', 'one.textContent'))
  expect(words.replaceAll('\u00ad', '')).toBe(text)
  expect(words.split('\u00ad').length).toBeGreaterThan(5)
  expect(words.slice(words.indexOf('see'))).not.toContain('\u00ad')
  await view.frame.evaluate(
    'addEventListener("copy", ({ clipboardData }) => { window.copied = clipboardData.getData("text/plain") })',
  )
  await view.frame.focus('#turns')
  await on(view, '.words', 'getSelection().selectAllChildren(one)')
  await view.page.keyboard.press('ControlOrMeta+c')
  await expect.poll(() => view.frame.evaluate('window.copied')).toBe(text)
  await expectFits(view)
})

test('a transcript without words of the other side says that nothing was heard', async () => {
  const line = 'Nothing was heard from the caller.'
  const messages = said.filter(({ role }) => role !== 'user')
  const silent = await show({ ...ended, messages })
  await silent.run()
  await silent.frame.waitForSelector('.turn')
  expect(await silent.frame.innerText('.transcript > .more')).toBe(line)
  expect(await accessibilityFlaws(silent.frame)).toEqual([])
  // Both have spoken, or the call goes on.
  for (const call of [ended, { ...ended, messages, status: 'in_progress', ended_at: null }]) {
    const view = await show(call)
    await view.run()
    await view.frame.waitForSelector('.turn')
    expect(await view.text()).not.toContain(line)
  }
})
