import { describe, expect, test } from 'vitest'
import { seedIds } from '../harness/sandbox.ts'
import { accessibilityFlaws } from './open-browser.ts'
import { browserOfFile } from './shared-browser.ts'
import {
  countOf,
  expectFits,
  expectNothingShown,
  expectWellMade,
  places,
  showUntilEnd,
  statusOf,
  tabOrder,
} from './view-host/checked-view.ts'
import type { ShownView, ViewSettings } from './view-host/view-host.ts'

const browser = browserOfFile()

const support = 'Support line'
const greeting = 'Hello {{ contact.first_name }}, this is the support line. How can I help you?'

/** Shows the view of a tool's result, with a sandbox as the platform. */
const show = (settings: Partial<ViewSettings> = {}) =>
  showUntilEnd(browser, { tool: 'get_agent', args: { agent_id: support }, ...settings })

async function run(settings: Partial<ViewSettings> = {}) {
  const view = await show(settings)
  await view.run()
  await view.frame.waitForSelector('#content > :not(.skeleton)')
  return view
}

/** Text of the view on one line. */
const wordsOf = async (view: ShownView) => (await view.text()).replaceAll(/\s+/g, ' ')
const textsOf = ({ frame }: ShownView, selector: string) =>
  frame.evaluate(`[...document.querySelectorAll("${selector}")].map((one) => one.textContent)`)

/** Texts of matching elements, without their parts for screen readers. */
const marksOf = ({ frame }: ShownView, selector: string) =>
  frame.evaluate(
    `[...document.querySelectorAll("${selector}")].map((one) => one.lastChild.textContent)`,
  )
const tonesOf = ({ frame }: ShownView, selector: string) =>
  frame.evaluate(`[...document.querySelectorAll("${selector}")].map((one) => one.dataset.tone)`)
/** Texts of the badges under the title. */
const badgesOf = (view: ShownView) => textsOf(view, 'header .badge')

const hostile = '<img src=x onerror="document.title=\'run\'">\u202e'

describe.each(places)('an agent %s', (_, page) => {
  test('is a card with all its settings, for everybody', async () => {
    const view = await run({ page })
    const text = await view.text()
    expect(text).toContain(support)
    expect(text).toContain(greeting)
    expect(text).toContain('about orders.')
    expect(text).toMatch(/Model\s+GPT-4\.1 · OpenAI/)
    expect(text).toMatch(/Language\s+American English/)
    expect(text).toMatch(/Language model: temperature\s+0\.7/)
    expect(text).toMatch(/Voice: similarity boost\s+0\.75/)
    await expect.poll(() => view.text()).toMatch(/Answers \+12025550110, \+12025550112/)
    const [next] = (await textsOf(view, 'header .row > *')) as string[]
    expect(next).toMatch(/^Answers/)
    await expect.poll(() => view.text()).toMatch(/Voice\s+\w+ · ElevenLabs\s+Sample/)
    expect(text).not.toContain('Longest conversation')
    await view.frame.click('#defaults')
    const whole = await view.text()
    expect(whole).toMatch(/Greeting: pause before\s+0\ss/)
    expect(whole).toMatch(/call ends after\s+5\u00a0min\u00a05\u00a0s/)
    expect(whole).toMatch(/Longest conversation\s+20\smin/)
    expect(whole).toMatch(/Recording\s+On/)
    expect(await textsOf(view, '.tags li')).toEqual(['support', 'en'])
    await expectWellMade(view, page)
    expect(view.calls.map(({ name }) => name)).toEqual(['list_voices', 'list_phone_numbers'])
  })

  test('that was changed shows what was before and what is after', async () => {
    const message = greeting.replace('How can I help', 'What can I do for')
    const args = {
      agent_id: support,
      initial_message: { message },
      remove_tags: ['en'],
      add_tags: ['vip'],
      max_duration_seconds: 600,
      voice: { settings: { speed: 1.15 } },
    }
    const view = await run({ page, tool: 'update_agent', args })
    expect(await badgesOf(view)).toEqual(['Saved'])
    expect(await marksOf(view, '.value del')).toEqual(expect.arrayContaining(['How', 'help']))
    expect(await marksOf(view, '.value ins')).toEqual(expect.arrayContaining(['What', 'do for']))
    expect(await textsOf(view, '.changes .tags li')).toEqual([
      'support',
      'added: + vip',
      'removed: − en',
    ])
    expect(await wordsOf(view)).toMatch(/Longest conversation removed: 20 min added: 10 min/)
    expect(await wordsOf(view)).toMatch(/removed: 1 added: 1\.15/)
    await view.frame.click('#settings')
    await view.frame.waitForSelector('#defaults')
    expect(await view.text()).toMatch(/Model\s+GPT-4\.1/)
    expect(await view.frame.evaluate('document.activeElement.id')).toBe('settings')
    await expectWellMade(view, page)
  })

  test('with hostile and very long values is text', async () => {
    const long = `${'w'.repeat(3000)}\n${'line\n'.repeat(2000)}`
    const metadata = Object.fromEntries(
      Array.from({ length: 150 }, (_, at) => [
        `${hostile}${at}`,
        { deep: { deeper: { deepest: at } } },
      ]),
    )
    const view = await show({ page })
    await view.send({
      content: [],
      structuredContent: {
        id: hostile.repeat(20),
        name: hostile,
        note: long,
        tags: [hostile, 'w'.repeat(500)],
        metadata,
        model: null,
        voice: { ['__proto__']: 1, provider: 'azure', constructor: hostile },
        initial_message: { message: `{{ ${hostile} }}{{{{{% ${long}` },
        brand_new: { field: [1, { a: 2 }] },
        constructor: 'own',
      },
    })
    await view.frame.waitForSelector('h2')
    expect(await view.text()).not.toContain('more characters')
    await view.frame.click('#whole-note')
    await view.frame.click('#whole-greeting')
    const text = await view.text()
    expect(text).toContain('<img src=x onerror=')
    expect(text).not.toContain('\u202e')
    expect(text).toContain('more characters')
    expect(text).toMatch(/\d+ more fields/)
    expect(text).toMatch(/Brand new/)
    expect(await view.frame.evaluate('document.querySelectorAll("img").length')).toBe(0)
    expect(await view.frame.evaluate('document.title')).toBe('An agent')
    await expectWellMade(view, page)
  })

  test('that is one of many stands with those that fared alike', async () => {
    const args = {
      agent_ids: [support, 'Appointment reminders', 'Terminservice', 'nobody'],
      max_duration_seconds: 900,
    }
    const view = await run({ page, tool: 'update_agent', args })
    expect(await textsOf(view, 'h1')).toEqual(['4 agents'])
    expect(await badgesOf(view)).toEqual(['1 failed', '3 updated'])
    expect(await textsOf(view, 'h2')).toEqual(['Failed', 'Updated 3 agents'])
    expect(await tonesOf(view, 'h2 > [data-tone]')).toEqual(['danger', 'success'])
    // The reason has the name.
    expect((await view.text()).match(/nobody/g)).toHaveLength(1)
    // A missing agent has no settings to open.
    expect(await textsOf(view, '.names button')).not.toContain('nobody')
    expect(await textsOf(view, '.changes > li > strong')).toEqual(['Longest conversation'])
    await view.frame.focus('#agent-2')
    await view.page.keyboard.press('Enter')
    await expect.poll(view.text).toContain('Settings of Terminservice')
    expect(await view.text()).toContain('Guten Tag')
    expect(await view.frame.evaluate('document.activeElement.id')).toBe('agent-2')
    expect(await view.frame.evaluate('document.activeElement.ariaExpanded')).toBe('true')
    expect(await accessibilityFlaws(view.frame)).toEqual([])
    await view.page.keyboard.press('Enter')
    await expect.poll(view.text).not.toContain('Settings of Terminservice')
    await view.page.keyboard.press('Enter')
    await expect.poll(view.text).toContain('Settings of Terminservice')
    expect(view.calls).toEqual([
      {
        name: 'get_agent',
        arguments: { agent_id: expect.any(String), account_id: expect.any(String) },
      },
    ])
    await expectWellMade(view, page)
  })

  test('that is one of hundreds is found in its group', async () => {
    const agents = Array.from({ length: 300 }, (_, at) => ({
      agent_id: `a${at}`,
      name: `${hostile}${at}`,
      ...(at % 3 === 0
        ? { outcome: 'failed', problem: '<b>the platform refused' }
        : at === 1
          ? {
              outcome: 'updated',
              changes: [{ field: 'note', after: 'new' }],
              warnings: ['<b>look'],
            }
          : { outcome: 'updated', same_as: 2 }),
    }))
    const view = await show({ page, tool: 'update_agent' })
    await view.send({ content: [], structuredContent: { summary: {}, agents } })
    await view.frame.waitForSelector('h2')
    expect(await textsOf(view, 'h2')).toEqual(['Failed 100 agents', 'Updated 200 agents'])
    expect(await wordsOf(view)).toContain('removed: None added: new')
    expect(await view.text()).toContain('Warning: <b>look')
    expect(await view.frame.evaluate('document.querySelectorAll("img, b").length')).toBe(0)
    await expectFits(view)
    expect(await countOf(view, '.outcome:first-of-type .names button')).toBe(13)
    await view.frame.click('#names-0')
    expect(await countOf(view, '.outcome:first-of-type .names button')).toBe(100)
    expect(await view.frame.evaluate('document.activeElement.id')).toBe('agent-36')
    await expectFits(view)
    expect(view.complaints).toEqual([])
    expect(view.requests).toEqual([])
  })
})

test('a sentence that changed in a long text is shown with its neighbours, the rest on demand', async () => {
  const sentences = Array.from({ length: 40 }, (_, at) => `This is sentence number ${at}.`)
  const before = sentences.join(' ')
  const after = before.replace('number 20', 'number twenty')
  const view = await show({ tool: 'update_agent' })
  const changes = [{ field: 'note', before, after }]
  await view.send({ content: [], structuredContent: { agent_id: 'a', applied: true, changes } })
  await view.frame.waitForSelector('.changes')
  expect(await marksOf(view, '.changes del')).toEqual(['20'])
  const words = await wordsOf(view)
  expect(words).toMatch(/… This is sentence number 19\. This is sentence number removed: 20/)
  expect(words).not.toContain('number 30')
  await view.frame.click('#change-0')
  expect(await wordsOf(view)).toMatch(/number 0\. .* number 39\./)
  expect(await view.frame.evaluate('document.activeElement.ariaExpanded')).toBe('true')
  await view.frame.click('#change-0')
  expect(await wordsOf(view)).not.toContain('number 30')
})

test('a text written anew is shown before and after, not word by word', async () => {
  const view = await show({ tool: 'update_agent' })
  const changes = [
    { field: 'initial_message.message', before: 'Good morning, how are you?', after: 'Hi there!' },
  ]
  await view.send({ content: [], structuredContent: { agent_id: 'a', applied: true, changes } })
  await view.frame.waitForSelector('.changes')
  expect(await marksOf(view, '.changes del')).toEqual(['Good morning, how are you?'])
  expect(await marksOf(view, '.changes ins')).toEqual(['Hi there!'])
})

test('the spaces around a changed phrase are not marked', async () => {
  const view = await show({ tool: 'update_agent' })
  const changes = [
    { field: 'note', before: 'Ready within two days.', after: 'Ready within three working days.' },
    { field: 'note', before: 'Ask for Marta.', after: 'Please ask for Marta now.' },
  ]
  await view.send({ content: [], structuredContent: { agent_id: 'a', applied: true, changes } })
  await view.frame.waitForSelector('.changes')
  expect(await marksOf(view, '.changes ins')).toEqual(['three working', 'Please ask', 'now'])
})

test('on a phone, the values of both lists begin at one line, and long ones below their labels', async () => {
  const view = await show({ page: { viewport: { width: 360, height: 640 } } })
  const metadata = { kundennummernverwaltungssystem: { aktiv: true }, crm: 'hubspot' }
  const note = 'The practice is open from eight to six. '.repeat(5)
  const agent = {
    id: 'a',
    name: 'A',
    model: { provider: 'openai', model: 'gpt-4.1' },
    note,
    metadata,
  }
  await view.send({ content: [], structuredContent: agent })
  await view.frame.waitForSelector('.facts + h2')
  const places =
    (await view.frame.evaluate(`[...document.querySelectorAll('.facts dt')].map((one) => ({
    name: one.textContent, indent: one.nextSibling.getBoundingClientRect().left - one.getBoundingClientRect().left,
  }))`)) as { name: string; indent: number }[]
  const indentOf = (name: string) => places.find((one) => one.name.endsWith(name))?.indent
  expect(indentOf('crm')).toBeGreaterThan(100)
  expect(indentOf('crm')).toBe(indentOf('Model'))
  expect(indentOf('Note')).toBe(0)
  expect(indentOf('aktiv')).toBe(0)
})

test('on a phone, short changes are beside their labels, and long ones below', async () => {
  const view = await show({ tool: 'update_agent', page: { viewport: { width: 360, height: 640 } } })
  const long = 'The practice is open from eight to six, and closed on Sundays. '.repeat(2)
  const changes = [
    { field: 'voice.speed', before: 1.1, after: 1.2 },
    { field: 'tags', before: ['a'], after: ['b'] },
    { field: 'note', before: long, after: `${long}Call Marta.` },
    { field: 'metadata.kundennummernverwaltungssystem', before: 'a', after: 'b' },
  ]
  await view.send({ content: [], structuredContent: { agent_id: 'a', applied: true, changes } })
  await view.frame.waitForSelector('.changes')
  const sides = await view.frame.evaluate(`[...document.querySelectorAll('.changes > li')].map(
    ({ firstChild, lastChild }) =>
      lastChild.getBoundingClientRect().left > firstChild.getBoundingClientRect().left)`)
  expect(sides).toEqual([true, true, false, false])
})

test.each([
  ['fixed_message', 'Says first\nHello.'],
  ['dynamic_message', 'Says first, worded by the model from:\nHello.'],
  ['user_first', 'Says first\nNothing: the caller speaks first.'],
])('a greeting in the mode %s is what the agent says first', async (mode, words) => {
  const view = await show()
  const initial_message = { message: 'Hello.', mode }
  await view.send({ content: [], structuredContent: { id: 'a', name: 'A', initial_message } })
  await view.frame.waitForSelector('.greeting')
  expect((await view.frame.innerText('.greeting')).replace(/\n+/g, '\n')).toBe(words)
  const isListed = (await view.text()).includes('Greeting\nHello.')
  expect(isListed).toBe(mode === 'user_first')
})

test('an archived agent is still assigned to numbers, which callers may not reach', async () => {
  const view = await run()
  await expect.poll(() => view.text()).toContain('Answers +12025550110')
  expect(await countOf(view, '#assigned')).toBe(0)
  const archived = { id: seedIds.supportAgent, name: support, is_archived: true }
  await view.send({ content: [], structuredContent: archived })
  await view.frame.waitForSelector('#assigned')
  expect(await view.frame.innerText('#assigned p')).toBe(
    'Still assigned: +12025550110, +12025550112. Callers may reach nobody.',
  )
  expect(await view.text()).not.toContain('Answers')
  await view.frame.click('#assign')
  await expect.poll(() => view.said).toHaveLength(1)
  expect(await accessibilityFlaws(view.frame)).toEqual([])
})

test('settings without a documented default are apart from changed ones, and metadata from both', async () => {
  const view = await show()
  const agent = {
    ...{ id: 'a', name: 'A', max_duration_seconds: 600, allow_auto_hangup: true },
    metadata: { crm: 'hubspot', kundensystem: { aktiv: true } },
  }
  await view.send({ content: [], structuredContent: agent })
  await view.frame.waitForSelector('h2')
  const listOf = (heading: string) =>
    view.frame.evaluate(
      `[...document.querySelectorAll('h2')].find((one) => one.textContent === '${heading}').nextSibling.innerText`,
    )
  expect(await textsOf(view, 'h2')).toEqual(['Changed from the default', 'Also set', 'Metadata'])
  expect(await listOf('Changed from the default')).toMatch(
    /^Longest conversation\s+10\smin\s\(default:\s20\smin\)$/,
  )
  expect(await listOf('Also set')).toMatch(/^Agent can hang up\s+On$/)
  expect(await listOf('Metadata')).toMatch(/^crm\s+hubspot\s+kundensystem.aktiv\s+Yes$/)
  // A heading is nearer to its list than to the list before.
  const isNearer = await view.frame.evaluate(`(() => {
    const heading = [...document.querySelectorAll('h2')].at(-1)
    const [before, own, after] = [heading.previousSibling, heading, heading.nextSibling]
      .map((part) => part.getBoundingClientRect())
    return own.top - before.bottom > 1.5 * (after.top - own.bottom)
  })()`)
  expect(isNearer).toBe(true)
})

test.each([
  ['en-US-AvaMultilingualNeural', 'Ava (multilingual)'],
  ['de-DE-KatjaNeural', 'Katja'],
  ['pMsXgVXv3BLzUgSXRplE', 'pMsXgVXv3BLzUgSXRplE'],
])('a voice %s that is not listed is %s, without a sample', async (voice_id, name) => {
  const view = await show()
  const voice = { provider: 'azure', voice_id }
  const model = { provider: 'anthropic', model: 'claude-sonnet-4-5-20250929' }
  await view.send({ content: [], structuredContent: { id: 'a', name: 'A', voice, model } })
  await expect.poll(() => wordsOf(view)).toContain(`Voice ${name} · Azure No sample`)
  expect(await wordsOf(view)).toMatch(/Model Claude Sonnet 4\.5, 29 Sept? 2025 · Anthropic/)
})

test('a greeting from right to left has its line on its own side, near its words', async () => {
  const view = await show({ page: { viewport: { width: 1280, height: 640 } } })
  const initial_message = { message: 'مرحبا، كيف يمكنني مساعدتك اليوم؟', mode: 'fixed_message' }
  await view.send({ content: [], structuredContent: { id: 'a', name: 'مكتب', initial_message } })
  await view.frame.waitForSelector('.greeting')
  const greeting = (await view.frame.evaluate(`(() => {
    const value = document.querySelector('.greeting .value')
    const { borderRightWidth, borderLeftWidth } = getComputedStyle(value)
    return { borderRightWidth, borderLeftWidth, right: value.getBoundingClientRect().right }
  })()`)) as { right: number }
  expect(greeting).toMatchObject({ borderRightWidth: '3px', borderLeftWidth: '0px' })
  expect(greeting.right).toBeLessThan(500)
  expect(await countOf(view, 'h1:dir(rtl)')).toBe(1)
  expect(await countOf(view, 'dl:dir(rtl)')).toBe(0)
  await expectFits(view)
})

test('a long word is hyphenated, and a name of metadata breaks after its dot', async () => {
  const view = await show({ page: { viewport: { width: 360, height: 640 } } })
  const name = 'Kraftfahrzeughaftpflichtversicherungsberatung'
  const metadata = { kundennummernverwaltungssystem: { vertragsart: 'Haftpflicht' } }
  await view.send({ content: [], structuredContent: { id: 'a', name, metadata } })
  await view.frame.waitForSelector('h2')
  const title = await view.frame.innerText('h1')
  expect(title).toContain('\u00ad')
  expect(title.replaceAll('\u00ad', '')).toBe(name)
  expect(await countOf(view, 'dt wbr')).toBe(1)
  await expectFits(view)
})

test('an id is on one line with its label, and its button follows it', async () => {
  const view = await show({ page: { viewport: { width: 360, height: 640 } } })
  const id = '6f1c2d34-8a5b-4c6d-9e7f-0a1b2c3d4e5f'
  await view.send({ content: [], structuredContent: { id, name: 'A', note: 'x' } })
  await view.frame.waitForSelector('.copyable')
  const places = (await view.frame.evaluate(`(() => {
    const [code, button] = document.querySelectorAll('.copyable > *')
    const label = code.closest('dd').previousElementSibling
    const text = document.createRange()
    text.selectNodeContents(code)
    const lines = [...text.getClientRects()]
    const bottomOf = (node) => {
      const mark = node.insertBefore(document.createElement('i'), node.firstChild)
      mark.style.cssText = 'display: inline-block; width: 0; height: 0'
      const { bottom } = mark.getBoundingClientRect()
      mark.remove()
      return bottom
    }
    return {
      lines: lines.length,
      fromLabel: bottomOf(code) - bottomOf(label),
      fromText: button.getBoundingClientRect().left - lines.at(-1).right,
    }
  })()`)) as { lines: number; fromLabel: number; fromText: number }
  expect(places.lines).toBe(2)
  expect(Math.abs(places.fromLabel)).toBeLessThan(1)
  expect(places.fromText).toBeGreaterThanOrEqual(0)
  expect(places.fromText).toBeLessThan(8)
})

test('the button of a text to copy is never alone on a line', async () => {
  const view = await show({ page: { viewport: { width: 360, height: 640 } } })
  for (const length of Array.from({ length: 24 }, (_, at) => 24 + at)) {
    const id = 'a'.repeat(length)
    await view.send({ content: [], structuredContent: { id, name: 'A' } })
    await expect.poll(() => view.frame.innerText('.copyable')).toBe(id)
    const isBeside = await view.frame.evaluate(`(() => {
      const [code, button] = document.querySelectorAll('.copyable > *')
      const text = document.createRange()
      text.selectNodeContents(code)
      const last = [...text.getClientRects()].at(-1)
      const { top, bottom } = button.getBoundingClientRect()
      return last.top < (top + bottom) / 2 && (top + bottom) / 2 < last.bottom
    })()`)
    expect(isBeside, id).toBe(true)
  }
  await expectFits(view)
})

test('earlier changes stand below the settings, newest first', async () => {
  const view = await show()
  const changes = [
    {
      undo: 'b',
      at: '2026-11-20T09:30:00Z',
      changes: [{ field: 'name', before: 'A', after: 'B' }],
    },
    { undo: 'a', at: '2026-11-19T09:30:00Z', outcome: 'unknown', changes: [] },
  ]
  await view.send({ content: [], structuredContent: { id: 'agent', name: 'B', changes } })
  await view.frame.waitForSelector('.earlier')
  expect(await textsOf(view, '.earlier > p')).toEqual([
    '20 Nov 2026, 09:30',
    '19 Nov 2026, 09:30Not known whether it was saved',
  ])
  expect(await marksOf(view, '.earlier ins')).toEqual(['B'])
})

test('of many settings and changes, the first are open and the rest is folded', async () => {
  const view = await show()
  const metadata = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`field_${at}`, at]))
  const changes = Array.from({ length: 5 }, (_, at) => ({
    ...{ undo: `u${at}`, at: `2026-11-${20 - at}T09:30:00Z` },
    changes: [{ field: 'note', before: 'old', after: 'new' }],
  }))
  await view.send({ content: [], structuredContent: { id: 'a', name: 'A', metadata, changes } })
  await view.frame.waitForSelector('.earlier')
  expect(await textsOf(view, 'summary')).toEqual(['30 more settings', '2 earlier changes'])
  expect(await view.text()).not.toMatch(/field_59|16 Nov 2026/)
  await view.frame.click('#rows-Metadata')
  await view.frame.click('#earlier')
  await expect.poll(() => view.text()).toMatch(/field_59.*16 Nov 2026/s)
})

test.each([
  ['where the view may call no tools', { context: { withoutTools: true } }],
  ['where the server has no such tools', { env: { VOICE_AGENT_TOOLS: 'get_agent' } }],
])('a voice and a number that cannot be read leave the card whole, %s', async (_, settings) => {
  const view = await run({ args: { agent_id: seedIds.supportAgent }, ...settings })
  expect(await view.text()).toMatch(/Voice\s+\S+ · ElevenLabs/)
  expect(await view.text()).not.toContain('Answers +')
  expect(await view.frame.innerText('#problem, #status')).toBe('')
})

test('a dry run says that nothing is saved, and asks the model to save it', async () => {
  const args = { agent_id: support, dry_run: true, note: 'Another note.' }
  const view = await run({ tool: 'update_agent', args })
  expect(await badgesOf(view)).toEqual(['Nothing is saved yet'])
  expect(await tabOrder(view)).toEqual(['save', 'settings'])
  await view.frame.click('#save')
  await expect.poll(() => view.said).toHaveLength(1)
  expect(JSON.stringify(view.said)).toContain('without dry_run')
  expect(JSON.stringify(view.said)).not.toMatch(/Support|Another/)
  await expect.poll(view.text).toContain('Asked in the conversation.')
  expect(view.calls).toEqual([])
})

test('a dry run for many agents can be saved, one that changes nothing cannot', async () => {
  const args = { agent_ids: [support, 'Terminservice'], dry_run: true, note: 'x' }
  const view = await run({ tool: 'update_agent', args })
  expect(await badgesOf(view)).toEqual(['Nothing is saved yet', '2 would change'])
  expect(await view.frame.innerText('#save')).toBe('Ask to save 2')
  expect(await tabOrder(view)).toEqual(['agent-0', 'agent-1', 'save'])
  const agents = [{ agent_id: support, name: 'Desk', outcome: 'unchanged' }]
  await view.send({ content: [], structuredContent: { summary: {}, agents } })
  await expect.poll(() => tabOrder(view)).toEqual(['agent-0'])
})

test('a host that takes no messages says how to save a dry run', async () => {
  const args = { agent_id: support, dry_run: true, note: 'Another note.' }
  const context = { withoutMessages: true }
  const view = await run({ tool: 'update_agent', args, context })
  expect(await view.text()).toContain('To save it, ask in the conversation.')
  expect(await tabOrder(view)).toEqual(['settings'])
})

test('a sample is opened from the card, and the card says so', async () => {
  const view = await run()
  await view.frame.click('#sample')
  await expect.poll(() => wordsOf(view)).toMatch(/Sample ↗ Opened at \S+\./)
  expect(view.opened).toHaveLength(1)
})

test('an update that changes nothing says so', async () => {
  const args = { agent_id: support, max_duration_seconds: 1200 }
  const view = await run({ tool: 'update_agent', args })
  expect(await badgesOf(view)).toEqual(['Nothing to change: nothing was saved'])
})

test('a change that cannot be seen is not shown as none', async () => {
  const view = await show({ tool: 'update_agent' })
  const changes = [{ field: 'note', before: 'same', after: 'same\u200b ' }]
  await view.send({ content: [], structuredContent: { agent_id: 'a', applied: true, changes } })
  await view.frame.waitForSelector('.changes')
  expect(await textsOf(view, '.changes em')).toHaveLength(1)
})

test('null, absent and empty are told apart', async () => {
  const view = await show({ tool: 'update_agent' })
  const changes = [
    { field: 'ambient_sound.source', before: 'ac_fan', after: null },
    { field: 'metadata.crm', before: '' },
  ]
  await view.send({ content: [], structuredContent: { agent_id: 'a', applied: true, changes } })
  await view.frame.waitForSelector('.changes')
  expect(await wordsOf(view)).toContain('removed: Air conditioning added: No sound')
  expect(await wordsOf(view)).toContain('removed: Empty added: None')
})

test('a new agent is shown as it was saved, with warnings', async () => {
  const args = {
    name: hostile,
    model: { provider: 'openai', model: 'gpt-4.1' },
    transcriber: { provider: 'deepgram', model: 'nova-2', languages: ['en-us'] },
    voice: { provider: 'elevenlabs', voice_id: 'sbx-en-us-ada' },
    initial_message: { message: 'Hello {{ unknown_thing }}' },
  }
  const view = await run({ tool: 'create_agent', args })
  expect(await view.text()).toContain('<img src=x onerror=')
  expect(await view.text()).toMatch(/Warning: .*unknown_thing/)
  expect(await accessibilityFlaws(view.frame)).toEqual([])
})

test('a copy names its original, and shows its settings on demand', async () => {
  const view = await run({ tool: 'copy_agent', args: { agent_id: support, name: 'Second line' } })
  expect(await view.text()).toContain('Second line')
  expect(await wordsOf(view)).toContain(`Copy of ${seedIds.supportAgent}`)
  expect(await tabOrder(view)).toEqual(['settings'])
  await view.frame.click('#settings')
  await expect.poll(view.text).toContain(greeting)
})

test('the settings are read on a server that acts on one account, too', async () => {
  const view = await run({
    tool: 'update_agent',
    args: { agent_id: support, note: 'x' },
    env: { VOICE_AGENT_ACCOUNT: seedIds.account },
  })
  await view.frame.click('#settings')
  await expect.poll(view.text).toContain(greeting)
})

test('a host that lets views call no tools offers no settings', async () => {
  const args = { agent_ids: [support, 'Terminservice'], note: 'x' }
  const view = await run({ tool: 'update_agent', args, context: { withoutTools: true } })
  expect(await view.text()).toContain('Terminservice')
  expect(await tabOrder(view)).toEqual([])
})

test('the settings of one of many are read in the account that all belong to', async () => {
  const view = await show({ tool: 'update_agent' })
  const account = { id: seedIds.subaccount, name: 'Branch' }
  const agents = [{ agent_id: support, name: 'Desk', outcome: 'unchanged' }]
  await view.send({
    content: [],
    structuredContent: { summary: { unchanged: 1 }, account, agents },
  })
  await view.frame.click('#agent-0')
  await expect
    .poll(() => view.calls)
    .toEqual([{ name: 'get_agent', arguments: { agent_id: support, account_id: account.id } }])
  expect(await view.text()).toContain('In Branch')
  expect(await textsOf(view, '.names > li')).toEqual(['Desk'])
})

test('agents that failed for different reasons have one heading, and one line between outcomes', async () => {
  const view = await show({ tool: 'update_agent' })
  const agents = [
    ...['One', 'Two'].map((agent_id) => ({
      ...{ agent_id, outcome: 'failed', problem: `There is no agent ${agent_id}.` },
    })),
    { agent_id: 'a', name: 'Desk', outcome: 'failed', problem: 'Refused: no agent Desk.' },
    { agent_id: 'b', name: 'Line', outcome: 'unchanged' },
  ]
  await view.send({ content: [], structuredContent: { agents } })
  await view.frame.waitForSelector('h2')
  expect(await textsOf(view, 'h2')).toEqual(['Failed 3 agents', 'Unchanged'])
  // An agent that was read keeps its name, which opens its settings.
  expect(await textsOf(view, '.names button')).toEqual(['Desk', 'Line'])
  const borders = `[...document.querySelectorAll('.outcome')]
    .map((group) => getComputedStyle(group).borderTopWidth)`
  expect(await view.frame.evaluate(borders)).toEqual(['0px', '0px', '0px', '1px'])
  await expectFits(view)
})

test('settings that cannot be read are said to be so, and what changed stays', async () => {
  const view = await show({ tool: 'update_agent' })
  const changes = [{ field: 'note', before: 'a', after: 'b' }]
  await view.send({ content: [], structuredContent: { agent_id: 'gone', applied: true, changes } })
  await view.frame.click('#settings')
  await expect.poll(() => view.frame.innerText('#problem')).toContain('Not found')
  expect(await marksOf(view, '.changes del, .changes ins')).toEqual(['a', 'b'])
  expect(await accessibilityFlaws(view.frame)).toEqual([])
})

test('the keyboard reaches everything', async () => {
  const args = { agent_ids: [support, 'Terminservice'], note: 'x' }
  const view = await run({ tool: 'update_agent', args })
  expect(await tabOrder(view)).toEqual(['agent-0', 'agent-1'])
})

test('a slow answer is waited for, and the view says so', async () => {
  const view = await show()
  await expect.poll(() => statusOf(view)).not.toBe('')
  expect(await accessibilityFlaws(view.frame)).toEqual([])
  await view.run()
  await view.frame.waitForSelector('h2')
  expect(await statusOf(view)).toBe('')
})

test.each([
  ['of another form', { content: [], structuredContent: { items: [] } }],
  ['without data', { content: [{ type: 'text', text: 'x' }] }],
])('a result %s is not shown as an agent', async (_, result) => {
  const view = await show()
  await view.send(result)
  await expectNothingShown(view)
})
