import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { envelope, json } from '../harness/fake-platform.ts'
import { type Counted, listedCalls, startUsagePlatform } from '../harness/usage-platform.ts'
import { accessibilityFlaws } from './open-browser.ts'
import { browserOfFile } from './shared-browser.ts'
import {
  contrast,
  countOf,
  expectFits,
  expectNothingShown,
  expectWellMade,
  places,
  showOn,
  statusOf,
  tabOrder,
} from './view-host/checked-view.ts'
import type { ShownView, ViewSettings } from './view-host/view-host.ts'

const browser = browserOfFile()

const day = 86_400_000
const start = Date.UTC(2025, 10, 1)

/** Two calls of one agent and one of the other on each day. */
const calls: Counted[] = Array.from({ length: 60 }, (_, at) => ({
  at: new Date(start + Math.floor(at / 3) * day + 9 * 3_600_000 + at * 60_000).toISOString(),
  seconds: 60 + (at % 7) * 30,
  agent: at % 3 === 0 ? 'agent-2' : 'agent-1',
}))
const agents = [
  { id: 'agent-1', name: 'Front desk' },
  { id: 'agent-2', name: 'Terminservice' },
]
const november = {
  start: '2025-11-01T00:00:00Z',
  end: '2025-11-21T00:00:00Z',
  granularity: 'day',
}
const byAgent = { ...november, group_by: ['agent'] }

/** Shows the usage view, on a platform with these conversations. */
async function show({
  counted = calls,
  named = agents,
  listed = [],
  ...settings
}: Partial<ViewSettings> & {
  counted?: readonly Counted[]
  named?: readonly object[]
  listed?: readonly { readonly created: string }[] | number
} = {}) {
  const others = {
    '/agents': { count: named.length, items: named },
    '/calls': typeof listed === 'number' ? listed : listedCalls(listed),
  }
  const platform = await startUsagePlatform(counted, {}, others)
  return showOn(platform, browser, { tool: 'get_usage', args: byAgent, ...settings })
}

/** Arguments of the view's reads after a user's choice, without background reads for comparison. */
const chosenCalls = ({ calls }: ShownView) =>
  calls
    .filter(({ name, arguments: args }) => name === 'get_usage' && !args?.compare_start)
    .map(({ arguments: args }) => args)

/** Name, value and change of each figure; an empty list while the figure is being read. */
async function figures({ frame }: ShownView) {
  const text = await frame.evaluate(
    '[...document.querySelectorAll(".figures:not([hidden]) > div")].map((one) => one.querySelector(".skeleton") ? [] : [...one.children].map(({ innerText }) => innerText.replace(/\\s+/g, " ").trim()))',
  )
  return text
}

const rows = (view: ShownView) => countOf(view, 'tbody tr')
const chosen = ({ frame }: ShownView) => frame.innerText('figcaption strong')

test('groups keep their colours with forced colours', async () => {
  const view = await show({ page: { forcedColors: 'active' } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  const swatches = '[...document.querySelectorAll(".swatch")]'
  const colours = await view.frame.evaluate(
    `${swatches}.map((one) => getComputedStyle(one).backgroundColor)`,
  )
  expect(new Set(colours as string[]).size).toBe(2)
  // The canvas has at least as many pixels of each group's colour as one bar.
  const drawn = await view.frame.evaluate(`(() => {
    const canvas = document.querySelector('canvas')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const count = (colour) => {
      const [red, green, blue] = colour.match(/\\d+/g).map(Number)
      let dots = 0
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) dots++
      return dots
    }
    return ${swatches}.map((one) => count(getComputedStyle(one).backgroundColor))
  })()`)
  for (const dots of drawn as number[]) expect(dots).toBeGreaterThan(100)
})

test.each([
  ['forced', 'dotted', { forcedColors: 'active' }],
  ['usual', 'whole', {}],
] as const)('with %s colours, lines of the grid are %s', async (_, look, page) => {
  const view = await show({ page })
  await view.run()
  await view.frame.waitForSelector('canvas')
  /** Share of the pixels along the top line that are drawn. */
  const share = await view.frame.evaluate(`(() => {
    const canvas = document.querySelector('canvas')
    const scale = canvas.width / canvas.clientWidth
    const { offsetLeft, offsetTop, clientWidth } = document.querySelector('.u-over')
    const [left, width] = [offsetLeft * scale, clientWidth * scale]
    const { data } = canvas.getContext('2d').getImageData(left, offsetTop * scale - 1, width, 3)
    let drawn = 0
    for (let x = 0; x < Math.floor(width); x++)
      if ([0, 1, 2].some((y) => data[4 * (y * Math.floor(width) + x) + 3] > 0)) drawn++
    return drawn / width
  })()`)
  expect(Number(share) > 0.6).toBe(look === 'whole')
  expect(share).toBeGreaterThan(0.15)
})

describe.each(places)('usage %s', (_, page) => {
  test('is figures, a chart and a table, for everybody', async () => {
    const view = await show({ page })
    await view.run()
    await view.frame.waitForSelector('canvas')
    const text = await view.text()
    expect(text).toContain('Front desk')
    expect(text).toMatch(/Minutes\s+147\.0\s/)
    expect(text).toMatch(/Conversations\s+60\s/)
    expect(await rows(view)).toBe(20)
    await expectWellMade(view, page)
  })

  test('says so when there was none', async () => {
    const view = await show({ page, counted: [] })
    await view.run()
    await view.frame.waitForSelector('.state')
    expect(await countOf(view, 'canvas, table')).toBe(0)
    expect(await accessibilityFlaws(view.frame)).toEqual([])
  })

  test('shows many groups with hostile names, as text', async () => {
    const name = '<img src=x onerror="document.title=\'run\'">\u202e</script>'
    const many = Array.from({ length: 30 }, (_, at) => ({
      id: `a${at}`,
      name: `${name}${'w'.repeat(at === 29 ? 1000 : 30)}${at}`,
    }))
    const counted = Array.from({ length: 3000 }, (_, at) => ({
      at: new Date(start + (at % 480) * 3_600_000).toISOString(),
      seconds: 60 * (1 + (at % 30)),
      agent: `a${at % 30}`,
    }))
    const view = await show({ page, counted, named: many })
    await view.run()
    await view.frame.waitForSelector('canvas')
    expect(await view.text()).toContain('<img src=x onerror=')
    // The view reads the buckets that the result left out in several parts.
    const first = Number(await rows(view))
    expect(first).toBeLessThan(20)
    const last = await view.frame.innerText('tbody tr:last-child th')
    const said = `The chart and the table end with ${last}; the figures above are of all.`
    expect(await view.frame.innerText('.notice')).toContain(said)
    expect(await view.text()).not.toMatch(/Shortened|start =/)
    await view.frame.click('#more')
    await expect.poll(() => rows(view)).toBeGreaterThan(first)
    expect(await view.text()).toMatch(/\d+ others/)
    expect(await countOf(view, '.legend li')).toBe(8)
    expect(await view.text()).not.toContain('\u202e')
    expect(await view.frame.evaluate('document.querySelectorAll("img").length')).toBe(0)
    expect(await view.frame.evaluate('document.title')).toBe('Usage over time')
    await expectFits(view)
    expect(view.complaints).toEqual([])
    expect(view.requests).toEqual([])
  })
})

test('the range is told in the zone of its times', async () => {
  const view = await show({ context: { timeZone: 'Asia/Tokyo' } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  expect(await view.text()).toContain('1–20 Nov 2025 · by day · UTC')
})

test('a zone is named by its city', async () => {
  const view = await show({ args: { ...byAgent, tz: 'America/New_York' } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  expect(await view.text()).toContain('· by day · New York time')
})

test.each([
  ['de', '147,0', 'Sat, 1 Nov'],
  ['ar', '147.0', 'Sat 1 Nov'],
  ['en-US', '147.0', 'Sat, Nov 1'],
])(
  'for readers of %s, dates are English as their region writes them',
  async (locale, minutes, first) => {
    const view = await show({ context: { locale } })
    await view.run()
    await view.frame.waitForSelector('canvas')
    expect(await chosen(view)).toBe(`Total: ${minutes} minutes`)
    expect(await view.frame.innerText('tbody th')).toBe(first)
  },
)

test('a chart begins and ends on the first screen of a phone', async () => {
  const view = await show({
    page: { viewport: { width: 360, height: 640 } },
    listed: [listedCall('1', 1)],
  })
  await view.run()
  await view.frame.waitForSelector('canvas')
  await expect.poll(() => countOf(view, '.figures .skeleton')).toBe(0)
  const chart = 'document.querySelector("#chart").getBoundingClientRect()'
  expect(await view.frame.evaluate(`${chart}.top`)).toBeLessThan(400)
  expect(await view.frame.evaluate(`${chart}.bottom`)).toBeLessThanOrEqual(640)
})

test('on a phone, a bar of many hours is several hours', async () => {
  const page = { viewport: { width: 360, height: 640 } }
  const end = '2025-11-06T00:00:00Z'
  const view = await show({ page, args: { ...byAgent, end, granularity: 'hour' } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  expect(await view.frame.innerText('figcaption')).toContain(
    'To fit, each bar is 4 hours. The table is by hour.',
  )
  expect(await chosen(view)).toBe('Total: 36.0 minutes')
  await view.frame.focus('#chart')
  await view.page.keyboard.press('Home')
  await view.page.keyboard.press('ArrowRight')
  await view.page.keyboard.press('ArrowRight')
  expect(await chosen(view)).toMatch(/^1 Nov,? 08:00–12:00: 4.5 minutes$/)
  // The table keeps the hours.
  expect(await view.frame.innerText('tbody th')).toMatch(/09:00$/)
  await view.page.setViewportSize({ width: 1280, height: 640 })
  await expect.poll(() => view.frame.innerText('figcaption')).not.toContain('each bar')
  expect(await countOf(view, 'canvas')).toBe(1)
})

test('on a phone, the last bar of many days ends with its last day', async () => {
  const page = { viewport: { width: 360, height: 640 } }
  const view = await show({ page, args: { ...byAgent, end: '2025-12-11T00:00:00Z' } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  expect(await view.frame.innerText('figcaption')).toContain(
    'To fit, each bar is 7 days. The table is by day.',
  )
  await view.frame.focus('#chart')
  expect(await chosen(view)).toBe('6 Dec – 10 Dec, in part: 0.0 minutes')
  expect(await view.frame.innerText('.legend')).toContain('6 Dec – 10 Dec, in part')
  expect(await countOf(view, 'tr.chosen')).toBe(5)
})

/** Colour of each group by its name, in the legend or the table. */
const coloursOf = async ({ frame }: ShownView, row: string, swatch: string) =>
  Object.fromEntries(
    (await frame.evaluate(`[...document.querySelectorAll('${row}')].map((one) => [
      one.querySelector('[dir=auto]').innerText,
      getComputedStyle(one.querySelector('${swatch}')).backgroundColor,
    ])`)) as [string, string][],
  )

test('a group keeps its colour when its rank changes, and in the table of totals', async () => {
  const counted = [...calls]
  const view = await show({ counted, named: five.named })
  await view.run()
  await view.frame.waitForSelector('canvas')
  const first = await coloursOf(view, '.legend li:not(.partial)', '.swatch')
  expect(Object.keys(first)).toEqual(['Front desk', 'Terminservice'])
  const later = { at: november.start, seconds: 100_000 }
  counted.push({ ...later, agent: 'agent-2' }, { ...later, seconds: 200_000, agent: 'agent-3' })
  await view.frame.selectOption('#granularity', 'month')
  await expect.poll(() => rows(view)).toBe(1)
  const second = await coloursOf(view, '.legend li:not(.partial)', '.swatch')
  expect(second).toMatchObject(first)
  expect(new Set(Object.values(second)).size).toBe(3)
  // Another split begins with the first colour, and the groups keep theirs for later.
  await view.frame.selectOption('#grouping', 'type')
  await expect.poll(() => countOf(view, '.legend .number')).toBe(1)
  const [colour] = Object.values(await coloursOf(view, '.legend li:not(.partial)', '.swatch'))
  expect(colour).toBe(first['Front desk'])
  await view.frame.selectOption('#grouping', 'agent')
  await expect.poll(() => countOf(view, '.legend .number')).toBe(3)
  await view.frame.selectOption('#granularity', 'total')
  await view.frame.waitForSelector('.bar')
  expect(await coloursOf(view, 'tbody tr', '.bar')).toEqual(second)
})

test.each(['light', 'dark'] as const)(
  'neighbours in a bar differ without colour, %s',
  async (colorScheme) => {
    const named = Array.from({ length: 9 }, (_, at) => ({ id: `a${at}`, name: `Agent ${at}` }))
    const counted = named.map(({ id }, at) => ({ at: november.start, seconds: 60 + at, agent: id }))
    const view = await show({ counted, named, page: { colorScheme } })
    await view.run()
    await view.frame.waitForSelector('canvas')
    const colours = (await view.frame.evaluate(
      '[...document.querySelectorAll(".swatch:not(.striped)"), document.body].map((one) => getComputedStyle(one).backgroundColor)',
    )) as string[]
    const page = colours.pop() ?? ''
    expect(colours).toHaveLength(8)
    for (const colour of colours) expect(contrast(colour, page)).toBeGreaterThan(3)
    const others = colours.pop() ?? ''
    for (const [at, colour] of colours.entries())
      if (at > 0) expect(contrast(colour, colours[at - 1] ?? '')).toBeGreaterThan(3)
    // Merged groups stand out less than the light groups in the dark, and the dark ones in the light.
    const loudness = colours.map((colour) => contrast(colour, page)).sort((one, two) => one - two)
    expect(contrast(others, page)).toBeLessThan((loudness[4] ?? 0) / 2)
    // A line in the page's colour lies between two groups.
    const lines = await view.frame.evaluate(`(() => {
    const canvas = document.querySelector('canvas')
    const scale = canvas.width / canvas.clientWidth
    const plot = document.querySelector('.u-over')
    const column = canvas.getContext('2d').getImageData(
      Math.round((plot.offsetLeft + plot.clientWidth / 40) * scale), 0, 1, canvas.height).data
    const drawn = []
    for (let at = 0; at < column.length; at += 4)
      drawn.push('rgb(' + [...column.slice(at, at + 3)].join(', ') + ')')
    return drawn.filter((colour, at) => colour === ${JSON.stringify(page)} && drawn[at - 1] !== colour && at > 0).length
  })()`)
    expect(lines).toBeGreaterThanOrEqual(7)
  },
)

test('a long name is whole in the legend, and cut above its column', async () => {
  const name = 'Patientenaufnahmekoordinationsassistentin'
  const view = await show({
    named: [{ id: 'agent-1', name }],
    page: { viewport: { width: 360, height: 640 } },
  })
  await view.run()
  await view.frame.waitForSelector('canvas')
  const legend = await view.frame.innerText('.legend')
  expect(legend).toContain('\u00ad')
  expect(legend.replaceAll('\u00ad', '')).toContain(name)
  const texts = `(({ title, textContent }) => [title, textContent.replaceAll('\u00ad', '')])(
    document.querySelector('thead th:nth-child(3) .group'),
  )`
  expect(await view.frame.evaluate(texts)).toEqual([name, name])
  /** Width, and height in lines. */
  const size = `(() => {
    const head = document.querySelector('thead th:nth-child(3) .group')
    return [head.clientWidth, head.clientHeight / parseFloat(getComputedStyle(head).lineHeight)]
  })()`
  const [width, lines] = (await view.frame.evaluate(size)) as [number, number]
  expect(width).toBeLessThan(130)
  expect(lines).toBeGreaterThan(1.5)
  expect(lines).toBeLessThan(2.1)
  await expectFits(view)
})

test('with room, a long name is whole above its column', async () => {
  const view = await show({
    named: [{ id: 'agent-1', name: 'Patientenaufnahmekoordinationsassistentin' }],
  })
  await view.run()
  await view.frame.waitForSelector('canvas')
  const isWhole = `(({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight)(
    document.querySelector('thead th:nth-child(3) .group'))`
  expect(await view.frame.evaluate(isWhole)).toBe(true)
})

test('a name that is read from the right stands above its numbers', async () => {
  const view = await show({
    named: [{ id: 'agent-1', name: 'استقبال المرضى' }],
    page: { viewport: { width: 1280, height: 700 } },
  })
  await view.run()
  await view.frame.waitForSelector('table')
  const rights = `[...document.querySelectorAll('tr > :nth-child(3)')].slice(0, 2).map((cell) => {
    const range = document.createRange()
    range.selectNodeContents(cell.querySelector('.group') ?? cell)
    return range.getBoundingClientRect().right
  })`
  const [head = 0, number = 0] = (await view.frame.evaluate(rights)) as number[]
  expect(Math.abs(head - number)).toBeLessThan(2)
})

test('the last row of a scrolled table is whole above the total, also at another width', async () => {
  const view = await show({
    named: [{ id: 'agent-1', name: 'Patientenaufnahmekoordinationsassistentin' }],
    page: { viewport: { width: 1280, height: 700 } },
  })
  await view.run()
  await view.frame.waitForSelector('table')
  await view.frame.evaluate('document.querySelector("#table").scrollTo(0, 9999)')
  const overlap = `document.querySelector('tbody tr:last-child').getBoundingClientRect().bottom -
    document.querySelector('tfoot').getBoundingClientRect().top`
  await expect.poll(() => view.frame.evaluate(overlap)).toBeLessThan(1.5)
  await view.page.setViewportSize({ width: 1200, height: 700 })
  await sleep(300)
  expect(await view.frame.evaluate(overlap)).toBeLessThan(1.5)
})

test('a table of two columns is no wider than can be read across', async () => {
  const view = await show({ args: november, page: { viewport: { width: 1280, height: 700 } } })
  await view.run()
  await view.frame.waitForSelector('table')
  const width = 'document.querySelector("#table").offsetWidth'
  expect(await view.frame.evaluate(width)).toBeLessThan(450)
})

test('minutes that do not add up once rounded have a note', async () => {
  const note = 'Minutes are rounded'
  const view = await show()
  await view.run()
  await view.frame.waitForSelector('table')
  expect(await view.text()).not.toContain(note)
  const uneven = calls.map((call) => ({ ...call, seconds: call.seconds + 2 }))
  const other = await show({ counted: uneven })
  await other.run()
  await other.frame.waitForSelector('table')
  expect(await other.text()).toContain(note)
})

test('the table of a few groups has room below the chart', async () => {
  const named = [...agents, { id: 'agent-3', name: 'Appointment reminders' }]
  const three = calls.map((call, at) => ({ ...call, agent: `agent-${1 + (at % 3)}` }))
  const view = await show({
    counted: three,
    named,
    page: { viewport: { width: 900, height: 700 } },
  })
  await view.run()
  await view.frame.waitForSelector('canvas')
  const hidden =
    'document.querySelector("#table").scrollWidth - document.querySelector("#table").clientWidth'
  expect(await view.frame.evaluate(hidden)).toBe(0)
})

test('buckets beyond the platform’s limit are said to be missing, and cannot be read on', async () => {
  const view = await show({ args: { ...byAgent, limit: 5 } })
  await view.run()
  await view.frame.waitForSelector('.notice')
  expect(await view.frame.innerText('.notice')).toContain(
    'begin with Sun 16 Nov; the figures above are of all.',
  )
  expect(await countOf(view, '#more')).toBe(0)
  expect(await view.frame.innerText('tfoot')).toContain('Total shown')
})

test('groups without a known name are shown by their ids, and a sentence says so', async () => {
  const view = await show({ named: agents.slice(0, 1) })
  await view.run()
  await view.frame.waitForSelector('canvas')
  const text = await view.text()
  expect(text).toContain('the id is shown')
  expect(text).not.toContain('No name was found')
  expect(await view.frame.innerText('.legend')).toContain('agent-2')
})

test.each([1, 51, 99, 100, 101])('the axis covers a bar of %i conversations', async (count) => {
  const counted = Array.from({ length: count }, () => ({ at: november.start, seconds: 6 }))
  const view = await show({ counted, args: november })
  await view.run()
  await view.frame.waitForSelector('canvas')
  await view.frame.selectOption('#measure', 'conversations')
  await view.frame.waitForSelector('canvas')
  // Distance from the top of the plot to the tallest bar, as a share of the plot's height.
  const above = await view.frame.evaluate(`(() => {
    const canvas = document.querySelector('canvas')
    const scale = canvas.width / canvas.getBoundingClientRect().width
    const plot = document.querySelector('.u-over').getBoundingClientRect()
    const top = Math.round((plot.top - canvas.getBoundingClientRect().top) * scale)
    const probe = document.body.appendChild(document.createElement('i'))
    probe.style.color = 'var(--series-1)'
    const [red, green, blue] = getComputedStyle(probe).color.match(/\\d+/g).map(Number)
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    for (let at = 0; at < data.length; at += 4)
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue)
        return (Math.floor(at / 4 / canvas.width) - top) / (plot.height * scale)
  })()`)
  // The axes end at 1, 60, 100, 100 and 150.
  const share = { 1: 0, 51: 9 / 60, 99: 1 / 100, 100: 0, 101: 49 / 150 }[count]
  expect(above).toBeCloseTo(share ?? -1, 1)
})

test('the figures of a bar are shown under the pointer, and by the arrow keys', async () => {
  const view = await show()
  await view.run()
  await view.frame.waitForSelector('canvas')
  expect(await chosen(view)).toBe('Total: 147.0 minutes')
  expect(await view.frame.innerText('.legend')).toMatch(/Front desk\s+97.5\s+Terminservice\s+49.5/)
  await view.frame.hover('.u-over', { position: { x: 3, y: 50 } })
  expect(await chosen(view)).toBe('Sat 1 Nov: 4.5 minutes')
  await view.frame.hover('h1')
  expect(await chosen(view)).toBe('Total: 147.0 minutes')
  await view.frame.focus('#chart')
  expect(await chosen(view)).toBe('Sat 1 Nov: 4.5 minutes')
  await view.page.keyboard.press('ArrowRight')
  expect(await chosen(view)).toBe('Sun 2 Nov: 9.0 minutes')
  expect(await view.frame.innerText('.legend')).toMatch(/Front desk\s+6.5\s+Terminservice\s+2.5/)
  const said = 'document.querySelector("#chart").getAttribute("aria-valuetext")'
  expect(await view.frame.evaluate(said)).toBe('Sun 2 Nov: 9.0 minutes')
  await view.page.keyboard.press('End')
  await view.page.keyboard.press('ArrowRight')
  expect(await chosen(view)).toBe('Thu 20 Nov: 6.0 minutes')
  await view.frame.focus('#measure')
  expect(await chosen(view)).toBe('Total: 147.0 minutes')
})

test('the row of a chosen bar is marked, and scrolled into view', async () => {
  const view = await show({ page: { viewport: { width: 900, height: 1200 } } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  const marked = `[...document.querySelectorAll('tr.chosen th')].map(({ innerText }) => innerText)`
  const isShown = `(() => {
    const [head, row, foot] = ['thead th', 'tr.chosen', 'tfoot'].map((one) =>
      document.querySelector(one).getBoundingClientRect())
    return row.top >= head.bottom - 2 && row.bottom <= foot.top + 2
  })()`
  const scrolled = `document.querySelector('#table').scrollTop`
  await view.frame.hover('.u-over', { position: { x: 700, y: 50 } })
  expect(await view.frame.evaluate(marked)).toEqual([expect.stringContaining('Nov')])
  // Pointing scrolls nothing, pressing does.
  expect(await view.frame.evaluate(scrolled)).toBe(0)
  expect(await view.frame.evaluate(isShown)).toBe(false)
  await view.frame.click('.u-over', { position: { x: 700, y: 50 } })
  expect(await view.frame.evaluate(isShown)).toBe(true)
  await view.page.keyboard.press('Home')
  expect(await view.frame.evaluate(marked)).toEqual(['Sat 1 Nov'])
  expect(await view.frame.evaluate(isShown)).toBe(true)
  await view.frame.click('.u-over', { position: { x: 700, y: 50 } })
  expect(await view.frame.evaluate(isShown)).toBe(true)
  await view.page.keyboard.press('End')
  expect(await view.frame.evaluate(marked)).toEqual(['Thu 20 Nov'])
  expect(await view.frame.evaluate(isShown)).toBe(true)
  await view.frame.focus('#measure')
  await view.frame.hover('h1')
  expect(await view.frame.evaluate(marked)).toEqual([])
})

test('the keyboard reaches everything', async () => {
  const view = await show()
  await view.run()
  await view.frame.waitForSelector('canvas')
  expect(await tabOrder(view)).toEqual(['measure', 'granularity', 'grouping', 'chart', 'table'])
})

test('granularity, groups and measure are chosen in the view', async () => {
  const view = await show()
  await view.run()
  await view.frame.waitForSelector('canvas')
  await view.frame.selectOption('#measure', 'conversations')
  expect(await chosen(view)).toBe('Total: 60 conversations')
  await view.frame.focus('#granularity')
  await view.frame.selectOption('#granularity', 'month')
  await expect.poll(() => rows(view)).toBe(1)
  expect(await view.frame.innerText('tbody')).toMatch(/Nov 2025 in part\s+60\s+40\s+20/)
  await view.frame.selectOption('#grouping', '')
  await expect.poll(view.text).not.toContain('Front desk')
  await view.frame.selectOption('#granularity', 'total')
  // No table: the figures already show the total.
  await expect.poll(() => countOf(view, 'table')).toBe(0)
  expect(await view.text()).toMatch(/Conversations\s+60\s/)
  expect(chosenCalls(view)).toEqual([
    { ...byAgent, granularity: 'month' },
    { ...november, granularity: 'month' },
    { ...november, granularity: 'total' },
  ])
  // The focus stays on the control that was changed last.
  expect(await view.frame.evaluate('document.activeElement.id')).toBe('granularity')
  expect(view.complaints).toEqual([])
})

test('the table has the same decimals, quiet zeros and a row of totals', async () => {
  const view = await show({ counted: calls.filter((_, at) => at !== 3) })
  await view.run()
  await view.frame.waitForSelector('table')
  const cells = await view.frame.evaluate(
    '[...document.querySelectorAll("td")].map(({ innerText }) => innerText)',
  )
  for (const cell of cells as string[]) expect(cell).toMatch(/^\d+\.\d$/)
  expect(await view.frame.innerText('td .zero')).toBe('0.0')
  expect(await view.frame.innerText('tfoot')).toMatch(/^Total\s+144.5\s+97.5\s+47.0$/)
})

/** A call `days` after the start of the shown range; negative: before it. */
const listedCall = (id: string, days: number, answer_status = 'human') => ({
  ...{ id, type: 'phone', direction: 'inbound', answer_status },
  status: answer_status === 'human' ? 'completed' : 'failed',
  created: new Date(start + days * day + 3_600_000).toISOString(),
})

describe('the figures', () => {
  const before = Array.from({ length: 30 }, (_, at) => ({
    at: new Date(start - 5 * day + at * 60_000).toISOString(),
    seconds: 100,
  }))
  const listed = [
    ...[listedCall('1', 1), listedCall('2', 2), listedCall('3', 3)],
    ...[listedCall('4', 4, 'user_busy'), listedCall('5', -3), listedCall('6', -3, 'user_busy')],
    ...[listedCall('7', 5, 'unknown'), listedCall('8', -3, 'unknown')],
  ]

  test('have their change against the time before, read in the background', async () => {
    const view = await show({ counted: [...calls, ...before], listed })
    await view.run()
    await expect
      .poll(() => figures(view))
      .toEqual([
        ['Conversations', '60', 'up 100.0%'],
        ['Minutes', '147.0', 'up 194.0%'],
        ['Average length', '2:27', 'up 47.0%'],
        ['Answer rate', '75.0%', 'up 25.0 points'],
        ['Failed', '1', 'No change'],
      ])
    expect(await view.frame.innerText('#compared')).toBe(
      'Compared with 12–31 Oct 2025. Answer rate: 3\u00a0of\u00a04\u00a0calls.',
    )
    const [from, until] = [november.start, november.end].map((time) => new Date(time).toISOString())
    const range = { start: from, end: until, tz: 'UTC' }
    expect(view.calls).toEqual([
      {
        name: 'get_usage',
        arguments: { ...range, granularity: 'total', compare_start: '2025-10-12T00:00:00.000Z' },
      },
      {
        name: 'list_calls',
        arguments: {
          ...{ include_subaccounts: true, review: true, evidence: 1 },
          ...{ created_after: from, created_before: until, tz: 'UTC' },
        },
      },
    ])
    // Changing the measure, the theme or the size reads nothing.
    await view.frame.selectOption('#measure', 'conversations')
    await view.change({ theme: 'dark' })
    await expect.poll(() => figures(view)).toHaveLength(5)
    expect(view.calls).toHaveLength(2)
    expect(await accessibilityFlaws(view.frame)).toEqual([])
  })

  test('of days up to now are compared with days up to the same hour, read once', async () => {
    const midnight = Math.floor(Date.now() / day) * day
    const args = { start: new Date(midnight - 2 * day).toISOString(), granularity: 'day' }
    const counted = [{ at: new Date(Date.now() - 1000).toISOString(), seconds: 60 }]
    const earlier = [0, 1].map((days) => ({
      ...listedCall('1', 0),
      created: new Date(midnight - 5 * day + days * 1000).toISOString(),
    }))
    const view = await show({ counted, listed: earlier, args })
    await view.run()
    await expect.poll(() => view.calls).toHaveLength(3)
    await expect.poll(() => countOf(view, '.figures .skeleton')).toBe(0)
    const asked = view.calls.map(({ arguments: args = {} }) => args)
    const end = Date.parse(String(asked[0]?.end))
    const before = {
      start: new Date(midnight - 5 * day).toISOString(),
      end: new Date(end - 3 * day).toISOString(),
    }
    expect(asked[0]).toMatchObject({ compare_start: before.start, compare_end: before.end })
    expect(asked[2]).toMatchObject({ created_after: before.start, created_before: before.end })
    expect(await view.frame.innerText('#compared')).toContain('up to the same time of day')
    expect(await view.frame.innerText('header')).toContain('until now')
    await view.change({ theme: 'dark' })
    await view.change({ theme: 'light' })
    await expect.poll(() => countOf(view, '.figures > div')).toBe(5)
    expect(await countOf(view, '.figures .skeleton')).toBe(0)
    expect(view.calls).toHaveLength(3)
  })

  test('of failed calls are in calls', async () => {
    const failed = ['9', '10'].map((id) => listedCall(id, 5, 'unknown'))
    const view = await show({
      counted: [...calls, ...before],
      listed: [...listed, ...failed],
    })
    await view.run()
    await expect
      .poll(async () => (await figures(view)) as string[][])
      .toContainEqual(['Failed', '3', 'up 2 calls'])
  })

  test('say their changes in one colour, with arrows', async () => {
    const view = await show({ counted: [...calls, ...before], listed })
    await view.run()
    await expect.poll(() => countOf(view, '.figures .small svg')).toBe(4)
    const colours =
      'new Set([...document.querySelectorAll(".figures .small > span")].map((change) => getComputedStyle(change).color)).size'
    expect(await view.frame.evaluate(colours)).toBe(1)
  })

  test('of failed calls leave out those that nobody answered', async () => {
    const missed = ['user_busy', 'user_rejected', 'user_unavailable'].map((answer, at) =>
      listedCall(`missed-${at}`, 1, answer),
    )
    const dropped = { ...listedCall('dropped', 1), status: 'failed' }
    const view = await show({
      listed: [...missed, dropped, listedCall('1', 2), listedCall('2', 2, 'unknown')],
    })
    await view.run()
    await expect
      .poll(() => figures(view))
      .toEqual(
        expect.arrayContaining([
          ['Answer rate', '40.0%', ''],
          ['Failed', '2', expect.any(String)],
        ]),
      )
    expect(await view.frame.innerText('#compared')).toContain(
      'Answer rate: 2\u00a0of\u00a05\u00a0calls.',
    )
  })

  test('have a place while they are read', async () => {
    const view = await show({ listed })
    await view.page.evaluate('bridge.oncalltool = () => new Promise(() => undefined)')
    await view.run()
    await view.frame.waitForSelector('canvas')
    expect(await countOf(view, '.figures > div')).toBe(5)
    expect(await countOf(view, '.figures .skeleton')).toBe(7)
    expect(await accessibilityFlaws(view.frame)).toEqual([])
  })

  test.each([900, 360])('leave what follows in its place, %s wide, when read', async (width) => {
    const page = { viewport: { width, height: 640 } } as const
    const view = await show({ counted: [...calls, ...before], listed, page })
    await view.page.evaluate(`{
      const isOpen = new Promise((open) => { globalThis.openGate = open })
      bridge.oncalltool = (params) => isOpen.then(() => globalThis.callTool(params))
    }`)
    const heightAbove = async (selector: string) =>
      Number(
        await view.frame.evaluate(`document.querySelector('${selector}').getBoundingClientRect().top -
          document.getElementById('content').getBoundingClientRect().top`),
      )
    const placeholder = await heightAbove('.skeleton .chart')
    await view.run()
    await view.frame.waitForSelector('canvas')
    const unread = await heightAbove('.controls')
    expect(Math.abs((await heightAbove('figcaption')) - placeholder)).toBeLessThan(8)
    await view.page.evaluate('openGate()')
    await expect.poll(() => countOf(view, '.figures .skeleton')).toBe(0)
    expect(await view.frame.innerText('#compared')).toContain('Answer rate')
    expect(await heightAbove('.controls')).toBe(unread)
  })

  test('that cannot be read are left out, and nothing else', async () => {
    const view = await show({ counted: [...calls, ...before], listed: 403 })
    await view.run()
    await expect
      .poll(() => figures(view))
      .toEqual([
        ['Conversations', '60', 'up 100.0%'],
        ['Minutes', '147.0', 'up 194.0%'],
        ['Average length', '2:27', 'up 47.0%'],
      ])
    expect(await countOf(view, '.failed')).toBe(0)
    expect(await countOf(view, 'canvas')).toBe(1)
  })

  test('are left out by a server that does not expose calls', async () => {
    const view = await show({ env: { VOICE_AGENT_TOOLS: 'get_usage' } })
    await view.run()
    await expect.poll(() => figures(view)).toHaveLength(3)
    expect(await countOf(view, '.failed')).toBe(0)
  })

  test('of calls without subaccounts say so', async () => {
    const view = await show({ listed, env: { VOICE_AGENT_TOOLS: 'get_usage,list_calls' } })
    await view.run()
    await expect.poll(() => figures(view)).toHaveLength(5)
    await expect.poll(() => view.frame.innerText('#compared')).toContain('without subaccounts')
  })

  test('of a host without tools are those of the result', async () => {
    const view = await show({ context: { withoutTools: true } })
    await view.run()
    await view.frame.waitForSelector('canvas')
    expect(await figures(view)).toEqual([
      ['Conversations', '60', ''],
      ['Minutes', '147.0', ''],
      ['Average length', '2:27', ''],
    ])
    expect(await view.frame.innerText('#compared')).toBe(
      'Answer rate, failed calls and changes are not shown, because this client lets views read nothing more.',
    )
    expect(view.calls).toEqual([])
  })

  test('of more calls than are counted say so, and count none', async () => {
    const counted = Array.from({ length: 2001 }, () => ({ at: november.start, seconds: 60 }))
    const view = await show({ counted, args: november })
    await view.run()
    await expect.poll(() => figures(view)).toHaveLength(3)
    await expect.poll(() => view.frame.innerText('#compared')).toContain('too many calls')
    expect(view.calls.map(({ name }) => name)).toEqual(['get_usage'])
  })
})

test.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])('today in %s is not over', async (tz) => {
  const now = { at: new Date(Date.now() - 1000).toISOString(), seconds: 60 }
  const since = new Date(Date.now() - 3 * day).toISOString()
  const args = { start: since, granularity: 'day', tz }
  const view = await show({ counted: [now], args, context: { timeZone: 'UTC' } })
  await view.run()
  await view.frame.waitForSelector('table')
  const today = new Date().toLocaleDateString('en-GB', {
    ...{ timeZone: tz, weekday: 'short', day: 'numeric', month: 'short' },
  })
  const rows = await view.frame.evaluate(
    '[...document.querySelectorAll("tbody th")].map(({ innerText }) => innerText)',
  )
  const running = (rows as string[]).filter((row) => row.includes('so far'))
  expect(running).toEqual([`${today.replace(',', '')} so far`])
  expect(await view.frame.innerText('.legend')).toContain(', so far')
})

test('a bucket of which the range has a part is marked as a part', async () => {
  const args = { ...byAgent, start: '2025-11-02T12:00:00Z', end: '2025-11-04T06:00:00Z' }
  const view = await show({ args })
  await view.run()
  await view.frame.waitForSelector('canvas')
  const times = '[...document.querySelectorAll("tbody th")].map((th) => th.innerText)'
  expect(await view.frame.evaluate(times)).toEqual([
    ...['Sun 2 Nov in part', 'Mon 3 Nov', 'Tue 4 Nov in part'],
  ])
  const keys = '[...document.querySelectorAll(".legend li")].slice(-2).map((li) => li.innerText)'
  expect(await view.frame.evaluate(keys)).toEqual(['Sun 2 Nov, in part', 'Tue 4 Nov, in part'])
  await view.frame.focus('#chart')
  expect(await chosen(view)).toMatch(/^Tue 4 Nov, in part: /)
})

test.each([
  ['whole months', '2025-11-01T00:00:00+01:00', '2025-12-01T00:00:00+01:00', ['Nov 2025']],
  [
    'a month in part',
    '2025-11-01T00:00:00+01:00',
    '2025-11-30T00:00:00+01:00',
    ['Nov 2025 in part'],
  ],
])('%s in a zone', async (_, from, end, expected) => {
  const args = { start: from, end, granularity: 'month', tz: 'Europe/Berlin' }
  const view = await show({ args })
  await view.run()
  await view.frame.waitForSelector('canvas')
  const times = '[...document.querySelectorAll("tbody th")].map((th) => th.innerText)'
  expect(await view.frame.evaluate(times)).toEqual(expected)
})

test.each([
  [1280, 100],
  [360, 100],
  [390, 100],
  [320, 100],
  [360, 200],
])(
  'a long table on a screen of %i pixels, with text of %i percent, ends within a row',
  async (width, size) => {
    const view = await show({ page: { viewport: { width, height: 700 } } })
    await view.run()
    await view.frame.waitForSelector('table')
    await view.frame.evaluate(`document.documentElement.style.fontSize = '${size}%'`)
    const share = `(() => {
    const foot = document.querySelector('tfoot').getBoundingClientRect()
    const rows = [...document.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect())
    const last = rows.findLast(({ top }) => top < foot.top)
    return (foot.top - last.top) / last.height
  })()`
    await expect.poll(() => view.frame.evaluate(share)).toBeCloseTo(0.5, 1)
    // Nothing shows below the total, even where the box ends within a pixel.
    const below = `document.querySelector('#table').getBoundingClientRect().bottom - 1 -
      document.querySelector('tfoot').getBoundingClientRect().bottom`
    expect(await view.frame.evaluate(below)).toBeLessThanOrEqual(-1)
  },
)

test('no shade lies over digits', async () => {
  const args = { ...byAgent, granularity: 'total', compare_start: '2025-10-12T00:00:00Z' }
  const view = await show({ args, page: { viewport: { width: 360, height: 640 } } })
  await view.run()
  await view.frame.waitForSelector('.whole-columns[data-more~="after"]')
  const space = `(() => {
    const box = document.querySelector('#table')
    const shade = parseFloat(getComputedStyle(box, '::before').width)
    const edge = box.getBoundingClientRect().right - 1
    return [...document.querySelectorAll('td')].flatMap((cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      const { right } = range.getBoundingClientRect()
      return right < edge ? edge - shade - right : []
    })
  })()`
  for (const left of [0, 80]) {
    await view.frame.evaluate(`document.querySelector('#table').scrollTo(${left}, 0)`)
    expect(Math.min(...((await view.frame.evaluate(space)) as number[]))).toBeGreaterThanOrEqual(
      -0.5,
    )
  }
})

/** Words of up to 14 letters above columns that are on more than one line. */
const brokenWords = `[...document.querySelectorAll('thead th')].flatMap((cell) => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
  const broken = []
  while (walker.nextNode()) {
    for (const { 0: word, index } of walker.currentNode.data.matchAll(/(?<![^ ])[^ ]{1,14}(?![^ ])/g)) {
      const range = document.createRange()
      range.setStart(walker.currentNode, index)
      range.setEnd(walker.currentNode, index + word.length)
      if (range.getClientRects().length > 1) broken.push(word)
    }
  }
  return broken
})`

test.each([360, 760])('at %i pixels, names of columns break at spaces', async (width) => {
  const named = [
    ...['Terminservice', 'Emergency line', 'Orthodontics', 'Recalls', 'Billing', 'Night desk'],
    ...['Front desk', 'Nachmittagsdienst'],
  ].map((name, at) => ({ id: `agent-${at + 1}`, name }))
  const counted = calls.map((call, at) => ({ ...call, agent: `agent-${1 + (at % 8)}` }))
  const view = await show({ named, counted, page: { viewport: { width, height: 640 } } })
  await view.run()
  await view.frame.waitForSelector('.whole-columns')
  expect(await countOf(view, 'thead th')).toBe(10)
  expect(await view.frame.evaluate(brokenWords)).toEqual([])
  await view.frame.selectOption('#granularity', 'total')
  await view.frame.waitForSelector('.bar')
  expect(await view.frame.innerText('thead')).toContain('Conversations')
  expect(await view.frame.evaluate(brokenWords)).toEqual([])
  await expectFits(view)
})

/** Five groups, of which a phone shows the first. */
const five = {
  counted: calls.map((call, at) => ({ ...call, agent: `agent-${1 + (at % 5)}` })),
  named: ['Front desk', 'Terminservice', 'Reminders', 'Recalls', 'Billing'].map((name, at) => ({
    ...{ id: `agent-${at + 1}`, name },
  })),
}

test('shades show where rows and columns follow, and the first column stays in view', async () => {
  const view = await show({ ...five, page: { viewport: { width: 320, height: 568 } } })
  await view.run()
  await view.frame.waitForSelector('table')
  const shades = `[
    getComputedStyle(document.querySelector('#table'), '::before').content !== 'none',
    getComputedStyle(document.querySelector('tfoot')).boxShadow !== 'none',
    getComputedStyle(document.querySelector('tbody th')).boxShadow !== 'none',
  ]`
  /** Distances of a row's and the total's cells from the left edge of the table's box. */
  const lefts = `['tbody tr:first-child', 'tfoot tr'].map((row) =>
    [...document.querySelectorAll(row + ' > *')].slice(0, 2).map((cell) => Math.round(
      cell.getBoundingClientRect().left - document.querySelector('#table').getBoundingClientRect().left,
    )))`
  await expect.poll(() => view.frame.evaluate(shades)).toEqual([true, true, false])
  const [[, second]] = (await view.frame.evaluate(lefts)) as [[number, number]]
  expect(second).toBeGreaterThan(1)
  await view.frame.evaluate('document.querySelector("#table").scrollTo(9999, 9999)')
  await expect.poll(() => view.frame.evaluate(shades)).toEqual([false, false, true])
  for (const [first, next] of (await view.frame.evaluate(lefts)) as [[number, number]]) {
    expect(first).toBe(1)
    expect(next).toBeLessThan(second)
  }
  // The place stays when the view is drawn again, but not for other data.
  const scrolled = 'document.querySelector("#table").scrollTop > 0'
  await view.change({ theme: 'dark' })
  expect(await view.frame.evaluate(scrolled)).toBe(true)
  await view.frame.selectOption('#grouping', '')
  await expect.poll(() => countOf(view, 'thead th')).toBe(2)
  expect(await view.frame.evaluate(scrolled)).toBe(false)
})

test.each([
  ['usual', 100],
  ['double', 200],
])(
  'on a phone with text of %s size, a table shows whole columns, the total first',
  async (_, size) => {
    const view = await show({ ...five, page: { viewport: { width: 360, height: 640 } } })
    await view.run()
    await view.frame.waitForSelector('table')
    await view.frame.evaluate(`document.documentElement.style.fontSize = '${size}%'`)
    await view.frame.waitForSelector('.whole-columns')
    /** Numbers that are shown in part: left or right of an edge, or wider than their column. */
    const cut = `(() => {
    const box = document.querySelector('#table').getBoundingClientRect()
    const first = document.querySelector('tfoot th').getBoundingClientRect().right
    return [...document.querySelectorAll('td')].filter((cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      const { left, right } = range.getBoundingClientRect()
      const isOver = (edge) => left < edge - 1 && right > edge + 1
      return isOver(first) || isOver(box.right - 1) || cell.scrollWidth > cell.clientWidth
    }).map(({ innerText }) => innerText)
  })()`
    const isTotalShown =
      'document.querySelector("tfoot td").getBoundingClientRect().right <= document.querySelector("#table").getBoundingClientRect().right'
    expect(await view.frame.innerText('thead th:nth-child(2)')).toBe('Total')
    await expect.poll(() => view.frame.evaluate(cut)).toEqual([])
    expect(await view.frame.evaluate(isTotalShown)).toBe(true)
    for (const left of [50, 130, 9999]) {
      await view.frame.evaluate(`document.querySelector("#table").scrollTo(${left}, 0)`)
      await expect.poll(() => view.frame.evaluate(cut)).toEqual([])
    }
    await expectFits(view)
  },
)

test('with forced colours, a line shows where columns follow', async () => {
  const page = { viewport: { width: 360, height: 640 }, forcedColors: 'active' } as const
  const view = await show({ ...five, page })
  await view.run()
  await view.frame.waitForSelector('.whole-columns')
  const line = 'getComputedStyle(document.querySelector("#table"), "::before").borderInlineEndStyle'
  await expect.poll(() => view.frame.evaluate(line)).toBe('dashed')
  // Lines are quieter than texts.
  const [rule, text] = (await view.frame.evaluate(
    `(({ borderBottomColor, color }) => [borderBottomColor, color])(
      getComputedStyle(document.querySelector('tbody td')))`,
  )) as string[]
  expect(rule).not.toBe(text)
})

test('the text of the chart is as large as the text around it', async () => {
  const view = await show({ page: { viewport: { width: 360, height: 640 } } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  /** Width of the axis of amounts. */
  const axis = 'document.querySelector(".u-over").offsetLeft'
  const usual = Number(await view.frame.evaluate(axis))
  await view.frame.evaluate('document.documentElement.style.fontSize = "200%"')
  await expect.poll(() => view.frame.evaluate(axis)).toBeGreaterThan(1.4 * usual)
  const sizes = (await view.frame.evaluate(`[
    document.querySelector('canvas').getContext('2d').font,
    getComputedStyle(document.querySelector('#chart')).fontSize,
    devicePixelRatio,
  ]`)) as string[]
  const [drawn = 0, text = 0, ratio = 0] = sizes.map((size) => Number.parseFloat(size))
  expect(drawn).toBeCloseTo(text * ratio)
})

test('the first and the last bar of four weeks have a label, also in doubled text', async () => {
  const args = { ...byAgent, end: '2025-11-29T00:00:00Z' }
  const view = await show({ args, page: { viewport: { width: 360, height: 640 } } })
  await view.frame.evaluate(`{
    window.drawn = []
    const draw = CanvasRenderingContext2D.prototype.fillText
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      drawn.push(text)
      draw.call(this, text, ...place)
    }
  }`)
  await view.run()
  await view.frame.waitForSelector('canvas')
  const labels = 'drawn.filter((text) => text.includes("Nov"))'
  const days = ['1 Nov', '10 Nov', '19 Nov', '28 Nov']
  await expect.poll(() => view.frame.evaluate(`${labels}.slice(-4)`)).toEqual(days)
  await view.frame.evaluate('drawn.length = 0; document.documentElement.style.fontSize = "200%"')
  await expect.poll(() => view.frame.evaluate(labels)).toEqual(['1 Nov', '22 Nov'])
})

test('only hours with conversations have a row', async () => {
  const end = '2025-11-05T00:00:00Z'
  const hours = new Set(calls.map(({ at }) => at.slice(0, 13)).filter((hour) => hour < end))
  const view = await show({ args: { ...byAgent, end, granularity: 'hour' } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  expect(await rows(view)).toBe(hours.size)
  expect(await view.text()).toContain('are not listed')
})

test('an empty time offers a longer one, and to read again', async () => {
  const args = { ...byAgent, end: '2025-11-03T00:00:00Z', tz: 'Europe/Berlin' }
  const view = await show({ counted: [], args })
  await view.run()
  await view.frame.waitForSelector('.state')
  await view.frame.click('#again')
  await expect.poll(() => chosenCalls(view)).toEqual([args])
  await view.frame.click('#longer')
  await expect.poll(() => chosenCalls(view).length).toBe(2)
  const [, { start: from, ...rest } = {}] = chosenCalls(view)
  expect(rest).toEqual({ granularity: 'day', group_by: ['agent'], tz: 'Europe/Berlin' })
  expect(Math.round((Date.now() - Date.parse(String(from))) / day)).toBeGreaterThanOrEqual(29)
  // A month without conversations offers a button for twelve months.
  await expect.poll(() => view.frame.innerText('#longer')).toContain('12 months')
  await view.frame.click('#longer')
  await expect.poll(() => chosenCalls(view).length).toBe(3)
  const { start: first, granularity } = chosenCalls(view)[2] ?? {}
  expect(granularity).toBe('month')
  expect(String(first)).toMatch(/^\d{4}-\d\d-01T00:00:00\+0[12]:00$/)
  const monthsAgo = (Date.now() - Date.parse(String(first))) / ((365.25 * day) / 12)
  expect(monthsAgo).toBeGreaterThan(10.9)
  expect(monthsAgo).toBeLessThan(12.1)
})

test('a comparison is shown by group, with the change', async () => {
  const compared = { ...byAgent, start: '2025-11-11T00:00:00Z', compare_start: november.start }
  const view = await show({ args: compared })
  await view.run()
  await view.frame.waitForSelector('table')
  expect(await view.text()).toContain('Compared with 1–10 Nov 2025.')
  expect(await view.frame.innerText('thead th')).toBe('Agent')
  expect(await view.text()).toMatch(
    /Front desk\s+[\d.]+\s+[+−-]?[\d.]+\s+[+−-]?[\d.]+%\s+[\d.]+\s+20\s+[\d:]+/,
  )
  expect(await accessibilityFlaws(view.frame)).toEqual([])
})

test('a host that lets views call no tools offers no choice that needs one', async () => {
  const view = await show({ context: { withoutTools: true } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  expect(await tabOrder(view)).toEqual(['measure', 'chart', 'table'])
})

test('the theme of the host may change while the view is shown', async () => {
  const view = await show()
  await view.run()
  await view.frame.waitForSelector('canvas')
  await view.page.evaluate("bridge.setHostContext({ theme: 'dark', locale: 'de' })")
  await expect.poll(() => chosen(view)).toBe('Total: 147,0 minutes')
  const background = 'getComputedStyle(document.documentElement).backgroundColor'
  expect(await view.frame.evaluate(background)).toBe('rgb(27, 28, 31)')
})

test('what was chosen stays when the host gives the view another size', async () => {
  const view = await show()
  await view.run()
  await view.frame.waitForSelector('canvas')
  await view.frame.focus('#chart')
  await view.page.keyboard.press('Home')
  await view.page.evaluate('bridge.setHostContext({ containerDimensions: { width: 700 } })')
  await sleep(300)
  expect(await chosen(view)).toBe('Sat 1 Nov: 4.5 minutes')
})

test('the chart keeps the focus and the chosen bar in another theme and width', async () => {
  const view = await show({ args: { ...byAgent, end: '2025-12-11T00:00:00Z' } })
  await view.run()
  await view.frame.waitForSelector('canvas')
  await view.frame.focus('#chart')
  await view.page.keyboard.press('Home')
  await view.page.keyboard.press('ArrowRight')
  await view.frame.evaluate(
    'globalThis.lost = 0; addEventListener("focusin", ({ target }) => { if (target.id !== "chart") lost++ })',
  )
  await view.change({ theme: 'dark' })
  const background = 'getComputedStyle(document.documentElement).backgroundColor'
  await expect.poll(() => view.frame.evaluate(background)).toBe('rgb(27, 28, 31)')
  await view.frame.waitForSelector('canvas')
  const focused = '[document.activeElement.id, lost]'
  expect(await view.frame.evaluate(focused)).toEqual(['chart', 0])
  await expect.poll(() => chosen(view)).toBe('Sun 2 Nov: 9.0 minutes')
  await view.page.setViewportSize({ width: 360, height: 700 })
  await expect.poll(() => chosen(view)).toBe('1 Nov – 7 Nov: 52.5 minutes')
  expect(await view.frame.evaluate(focused)).toEqual(['chart', 0])
  const slider = 'document.querySelector("#chart")'
  expect(await view.frame.evaluate(`${slider}.ariaValueMax`)).toBe('5')
  await view.page.keyboard.press('End')
  expect(await view.frame.evaluate(`${slider}.ariaValueNow`)).toBe('5')
})

test('of two choices made at once the last one counts, whichever answer comes first', async () => {
  const view = await show()
  await view.run()
  await view.frame.waitForSelector('canvas')
  const usual = view.platform.seen.length
  await view.page.evaluate(`(() => {
    let calls = 0
    globalThis.slowFirst = async (params) => {
      if (++calls === 1) await new Promise((done) => setTimeout(done, 1500))
      return globalThis.callTool(params)
    }
    bridge.oncalltool = (params) => slowFirst(params)
  })()`)
  await view.frame.selectOption('#granularity', 'hour')
  await view.frame.selectOption('#granularity', 'month')
  await expect.poll(() => rows(view)).toBe(1)
  await expect.poll(() => view.platform.seen.length, { timeout: 10_000 }).toBeGreaterThan(usual + 2)
  await sleep(500)
  expect(await rows(view)).toBe(1)
})

describe('an answer', () => {
  test('that is slow is waited for, and the view says so', async () => {
    const view = await show()
    await expect.poll(() => statusOf(view)).not.toBe('')
    const waits = await statusOf(view)
    expect(await accessibilityFlaws(view.frame)).toEqual([])
    await expect.poll(() => statusOf(view), { timeout: 20_000 }).not.toBe(waits)
    expect(await statusOf(view)).not.toBe('')
    await view.run()
    await view.frame.waitForSelector('canvas')
    expect(await view.frame.evaluate('document.querySelector("main").ariaBusy')).toBe('false')
  }, 40_000)

  test('that is a failure is shown, and what was shown before stays', async () => {
    const view = await show()
    await view.run()
    await view.frame.waitForSelector('canvas')
    view.platform.behave((_, response) => json(response, 403, envelope('forbidden', '<b>no</b>')))
    await view.frame.selectOption('#granularity', 'month')
    await expect.poll(() => view.frame.innerText('#problem')).toContain('No access')
    expect(await view.frame.evaluate('document.querySelectorAll("#problem b").length')).toBe(0)
    expect(await rows(view)).toBe(20)
    expect(await view.frame.evaluate('document.querySelector("#granularity").value')).toBe('day')
    expect(await accessibilityFlaws(view.frame)).toEqual([])
  })

  test.each([
    ['of another form', { content: [], structuredContent: { data: 'none' } }],
    ['without data', { content: [{ type: 'text', text: 'x' }] }],
  ])('%s is not shown as data', async (_, result) => {
    const view = await show()
    await view.send(result)
    await expectNothingShown(view)
  })

  test('that was cancelled is not waited for', async () => {
    const view = await show()
    await view.page.evaluate("bridge.sendToolCancelled({ reason: 'user action' })")
    await expectNothingShown(view)
    await sleep(400)
    expect(await statusOf(view)).toBe('')
  })
})

test('the view stops when its host asks', async () => {
  const view = await show()
  await view.run()
  expect(await view.page.evaluate('bridge.teardownResource({})')).toEqual({})
})

test('messages of other windows are not the host’s', async () => {
  const view = await show()
  await view.run()
  await view.frame.waitForSelector('canvas')
  const forged = {
    jsonrpc: '2.0',
    method: 'ui/notifications/tool-result',
    params: { isError: true, content: [{ type: 'text', text: 'forged' }] },
  }
  // Sent from the view itself, and from the host's outer page.
  await view.frame.evaluate(`window.postMessage(${JSON.stringify(forged)}, '*')`)
  await view.page.evaluate(`frames[0].frames[0].postMessage(${JSON.stringify(forged)}, '*')`)
  await sleep(300)
  expect(await view.text()).not.toContain('forged')
})
