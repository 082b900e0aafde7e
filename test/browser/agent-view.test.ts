import { describe, expect, test } from 'vitest'
import { seedIds } from '../harness/sandbox.ts'
import { browserOfFile } from './browser-of-file.ts'
import { accessibilityFlaws } from './open-browser.ts'
import {
  expectFits,
  expectNothingShown,
  expectWellMade,
  places,
  showUntilEnd,
  statusOf,
} from './view-host/checked-view.ts'
import { tabOrder } from './view-host/tab-order.ts'
import type { ShownView, ViewSettings } from './view-host/view-host.ts'

const browser = browserOfFile()

const support = 'Support line'
const greeting = 'Hello {{ contact.first_name }}, this is the support line. How can I help you?'

/** The view of a tool's result; the platform is a sandbox. */
const show = (settings: Partial<ViewSettings> = {}) =>
  showUntilEnd(browser, { tool: 'get_agent', args: { agent_id: support }, ...settings })

async function run(settings: Partial<ViewSettings> = {}) {
  const view = await show(settings)
  await view.run()
  await view.frame.waitForSelector('h2')
  return view
}

/** The text in one line. */
const wordsOf = async (view: ShownView) => (await view.text()).replaceAll(/\s+/g, ' ')
const textsOf = ({ frame }: ShownView, selector: string) =>
  frame.evaluate(`[...document.querySelectorAll("${selector}")].map((one) => one.textContent)`)

const hostile = '<img src=x onerror="document.title=\'run\'">\u202e'

describe.each(places)('an agent %s', (_, page) => {
  test('is a card with all its settings, for everybody', async () => {
    const view = await run({ page })
    const text = await view.text()
    expect(text).toContain(support)
    expect(text).toContain(greeting)
    expect(text).toContain('about orders.')
    expect(text).toMatch(/Temperature\s+0\.7/)
    expect(text).toMatch(/Wait before\s+0 s/)
    expect(text).toMatch(/Call ends after\s+305 s/)
    expect(text).toMatch(/Longest conversation\s+20:00/)
    expect(text).toMatch(/Calls are recorded\s+yes/)
    expect(text).toMatch(/Settings: similarity boost|Settings.similarity boost\s+0\.75/)
    expect(await textsOf(view, '.tags li')).toEqual(['support', 'en'])
    await expectWellMade(view, page)
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
    expect(await textsOf(view, 'p > strong')).toMatchSnapshot()
    expect(await textsOf(view, '.sides del')).toEqual(['How', 'help'])
    expect(await textsOf(view, '.sides ins')).toEqual(['What', 'do for'])
    expect(await textsOf(view, '.changes .tags li')).toEqual([
      'support',
      'added: + vip',
      'removed: − en',
    ])
    expect(await wordsOf(view)).toMatch(
      /Longest conversation max_duration_seconds\s+before: 20:00 → after: 10:00/,
    )
    expect(await wordsOf(view)).toMatch(/before: 1 → after: 1\.15/)
    await view.frame.click('#settings')
    await view.frame.waitForSelector('.groups')
    expect(await view.text()).toMatch(/Language model/)
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
    const text = await view.text()
    expect(text).toContain('<img src=x onerror=')
    expect(text).not.toContain('\u202e')
    expect(text).toContain('more characters')
    expect(text).toContain('50 more fields')
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
    expect(await view.text()).toContain('4 agents: 1 failed, 3 updated.')
    expect(await textsOf(view, 'h2')).toEqual(['Failed', 'Updated · 3 agents'])
    expect(await view.text()).toContain('nobody')
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
    expect(await textsOf(view, 'h2')).toEqual(['Failed · 100 agents', 'Updated · 200 agents'])
    expect(await wordsOf(view)).toContain('before: none → after: new')
    expect(await view.text()).toContain('Warning: <b>look')
    expect(await view.frame.evaluate('document.querySelectorAll("img, b").length')).toBe(0)
    await expectFits(view)
    expect(view.complaints).toEqual([])
    expect(view.requests).toEqual([])
  })
})

test('a dry run says that nothing is saved', async () => {
  const args = { agent_id: support, dry_run: true, note: 'Another note.' }
  const view = await run({ tool: 'update_agent', args })
  expect(await textsOf(view, 'p > strong')).toMatchSnapshot()
})

test('an update that changes nothing says so', async () => {
  const args = { agent_id: support, max_duration_seconds: 1200 }
  const view = await run({ tool: 'update_agent', args })
  expect(await textsOf(view, 'p > strong')).toMatchSnapshot()
})

test('a change that cannot be seen is not shown as none', async () => {
  const view = await show({ tool: 'update_agent' })
  const changes = [{ field: 'note', before: 'same', after: 'same\u200b ' }]
  await view.send({ content: [], structuredContent: { agent_id: 'a', applied: true, changes } })
  await view.frame.waitForSelector('h2')
  expect(await textsOf(view, '.changes em')).toHaveLength(1)
})

test('null, absent and empty are told apart', async () => {
  const view = await show({ tool: 'update_agent' })
  const changes = [
    { field: 'ambient_sound.source', before: 'ac_fan', after: null },
    { field: 'metadata.crm', before: '' },
  ]
  await view.send({ content: [], structuredContent: { agent_id: 'a', applied: true, changes } })
  await view.frame.waitForSelector('h2')
  expect(await wordsOf(view)).toContain('before: ac_fan → after: not set')
  expect(await wordsOf(view)).toContain('before: empty → after: none')
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
  expect(await view.text()).toContain(`Copy of ${seedIds.supportAgent}`)
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
  expect(await view.text()).toContain('Desk in Branch')
})

test('settings that cannot be read are said to be so, and what changed stays', async () => {
  const view = await show({ tool: 'update_agent' })
  const changes = [{ field: 'note', before: 'a', after: 'b' }]
  await view.send({ content: [], structuredContent: { agent_id: 'gone', applied: true, changes } })
  await view.frame.click('#settings')
  await expect.poll(() => view.frame.innerText('#problem')).toContain('not_found')
  expect(await textsOf(view, '.changes del, .changes ins')).toEqual(['a', 'b'])
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
