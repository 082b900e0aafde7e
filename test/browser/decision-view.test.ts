import { describe, expect, test } from 'vitest'
import { decisionMetaKey } from '../../src/apps/views.ts'
import { seedIds } from '../harness/sandbox.ts'
import { accessibilityFlaws } from './open-browser.ts'
import { browserOfFile } from './shared-browser.ts'
import {
  countOf,
  expectFits,
  expectWellMade,
  places,
  showUntilEnd,
  tabOrder,
} from './view-host/checked-view.ts'
import type { ShownView } from './view-host/view-host.ts'

const browser = browserOfFile()

const env = { VOICE_AGENT_CONFIRM: 'always', VOICE_AGENT_SANDBOX_SPEED: '50' }
const call = {
  type: 'phone',
  agent_id: seedIds.supportAgent,
  from_number: '+12025550110',
  to_number: '+12025550101',
}
const otherAgent = '00000000-0000-4000-8002-000000000002'
const agent = { agent_id: seedIds.supportAgent }

const show = (tool: string, args: Readonly<Record<string, unknown>>, more: object = {}) =>
  showUntilEnd(browser, { env, tool, args, ...more })

/** Text and tone of the badge under the title. */
const badgeOf = ({ frame }: ShownView) => frame.innerText('header .badge')
const toneOf = ({ frame }: ShownView) =>
  frame.evaluate('document.querySelector("header .badge").dataset.tone')

/** Passes the view's tool calls to the server, and loses the answers. */
const loseAnswers = ({ page }: ShownView) =>
  page.evaluate(
    'bridge.oncalltool = async (call) => { await callTool(call); throw new Error("gone") }',
  )
const keepAnswers = ({ page }: ShownView) =>
  page.evaluate('bridge.oncalltool = (call) => callTool(call)')

/** Answers the view's calls of a tool with a result, and passes all others to the server. */
const answerWith = ({ page }: ShownView, tool: string, result: object) =>
  page.evaluate(
    `bridge.oncalltool = (call) => call.name === '${tool}' ? Promise.resolve(${JSON.stringify(result)}) : callTool(call)`,
  )

const modelHeard = ({ modelContexts }: ShownView) => JSON.stringify(modelContexts)

describe.each(places)('a decision %s', (_, page) => {
  test('has its facts and two buttons, and nothing is done before one is pressed', async () => {
    const view = await show('place_call', call, { page })
    await view.run()
    await view.frame.waitForSelector('#agree')
    expect(await view.text()).toContain('+12025550101')
    expect(await view.text()).not.toContain('confirm_token')
    // The question mark breaks into no line without the last digits.
    expect(await view.frame.innerText('h1 .phone > :last-child')).toBe('0101?')
    // Names are in typographic quotes; ids are hidden.
    expect(await view.text()).not.toMatch(/"|0000-4000/)
    expect(await tabOrder(view)).toEqual(['agree', 'decline', 'ids'])
    expect(view.calls).toEqual([])
    await expectWellMade(view, page)
  })
})

test('an archive of several agents tells in its headline how many are archived now', async () => {
  const view = await show('archive_agent', agent)
  const agents = [
    { name: 'A', outcome: 'archived' },
    { name: 'A', outcome: 'unchanged' },
    { name: 'A', outcome: 'in_use', problem: `answers "A" (${otherAgent})` },
  ]
  await view.send({ content: [], structuredContent: { agents } })
  await view.frame.waitForSelector('table')
  expect(await view.frame.innerText('h1')).toBe('2 of 3 agents archived')
  expect(await view.frame.innerText('tr:last-child .small')).toBe('Answers “A”')
  // The agents that were kept have a way on, without their names.
  await view.frame.click('#ask')
  await expect.poll(() => view.said).toHaveLength(1)
  expect(JSON.stringify(view.said)).toContain('archive_agent')
  expect(await accessibilityFlaws(view.frame)).toEqual([])
  await view.send({ content: [], structuredContent: { agents: agents.slice(0, 2) } })
  await expect.poll(() => view.frame.innerText('h1')).toBe('2 of 2 agents archived')
  expect(await countOf(view, 'button')).toBe(0)
})

test.each([
  ['that answers numbers', agent, 1],
  ['that answers none', { agent_id: otherAgent }, 0],
  ['among others that answer none', { agent_ids: [seedIds.supportAgent, otherAgent] }, 1],
])(
  'an archive of an agent %s warns of callers only if the agent has some',
  async (_, args, warnings) => {
    const view = await show('archive_agent', args)
    await view.run()
    await view.frame.waitForSelector('#agree')
    expect(await countOf(view, '.consequence .icon')).toBe(warnings)
    expect((await view.text()).includes('may reach nobody')).toBe(warnings > 0)
    expect(await view.text()).toMatch(/restore (it|them) later/)
  },
)

test.each([
  ['a check', true],
  ['the answer', false],
])(
  'an archived agent that %s shows is still assigned to its numbers, with a way on',
  async (_, isLost) => {
    const view = await show('archive_agent', agent)
    await view.run()
    await view.frame.waitForSelector('#agree')
    expect(await view.text()).toContain('Calls running now')
    if (isLost) await loseAnswers(view)
    await view.frame.click('#agree')
    if (isLost) {
      await view.frame.waitForSelector('#check')
      await keepAnswers(view)
      await view.frame.click('#check')
    }
    await view.frame.waitForSelector('#assign')
    expect(await badgeOf(view)).toBe('Archived')
    expect(await view.frame.innerText('#assigned p')).toMatch(
      /^Still assigned: \+1202555011[02].*\. Callers may reach nobody\.$/,
    )
    expect(await countOf(view, '#assigned[data-tone="warning"] .icon')).toBe(1)
    expect(await view.text()).not.toMatch(/Answers|running now/)
    await view.frame.click('#assign')
    await expect.poll(() => view.said).toHaveLength(1)
    expect(JSON.stringify(view.said)).not.toMatch(/Support|\+1202/)
    expect(await accessibilityFlaws(view.frame)).toEqual([])
  },
)

test('numbers of archived agents only are still assigned after an archive of many', async () => {
  const view = await show('archive_agent', agent)
  const agents = [
    { agent_id: agent.agent_id, name: 'A', outcome: 'archived' },
    { agent_id: otherAgent, name: 'B', outcome: 'failed' },
  ]
  const items = [1, 2, 3, 4, 5].map((at) => ({
    ...{
      number: `+1202555011${at}`,
      inbound_agent: { id: at === 1 ? otherAgent : agent.agent_id },
    },
  }))
  await answerWith(view, 'list_phone_numbers', { content: [], structuredContent: { items } })
  await view.send({ content: [], structuredContent: { agents } })
  await view.frame.waitForSelector('#assigned')
  expect(await view.frame.innerText('#assigned p')).toBe(
    'Still assigned: +12025550112, +12025550113, +12025550114 and 1 more. Callers may reach nobody.',
  )
  await view.send({ content: [], structuredContent: { agents: agents.slice(1) } })
  await expect.poll(() => countOf(view, '#assigned')).toBe(0)
})

test.each([
  ['archive_agent', agent, 1],
  ['archive_agent', { agent_id: otherAgent }, 0],
  ['delete_phone_number', { phone_number_id: seedIds.mainNumber }, 1],
  ['place_call', call, 0],
])('no button is the main one under a warning: %s, %o', async (tool, args, warnings) => {
  const view = await show(tool, args)
  await view.run()
  await view.frame.waitForSelector('#agree')
  expect(await countOf(view, '.consequence .icon')).toBe(warnings)
  expect(await countOf(view, '.answers .primary')).toBe(1 - warnings)
})

test('a trunk whose numbers are not known has a mark, and the platform keeps one with numbers', async () => {
  const args = { sip_trunk_id: 'trunk' }
  const view = await show('delete_sip_trunk', args)
  const { _meta } = await view.callTool('archive_agent', agent)
  const meta = {
    [decisionMetaKey]: { ...Object(Object(_meta)[decisionMetaKey]), tool: 'delete_sip_trunk' },
  }
  for (const [Numbers, marks] of [
    ['not known', 1],
    ['none', 0],
  ] as const) {
    const question = 'Delete the SIP trunk "Office"?'
    const confirmation = { state: 'needed', question, facts: { Trunk: '"Not known"', Numbers } }
    await view.send({ content: [], structuredContent: { confirmation }, _meta: meta })
    await expect.poll(() => countOf(view, '.facts mark')).toBe(marks)
    const consequence = await view.frame.innerText('.consequence')
    expect(consequence.includes('the platform does not delete it')).toBe(marks > 0)
  }
})

test('a greeting with gaps is marked before it is saved, and its warning comes first', async () => {
  const args = {
    agent_ids: [seedIds.supportAgent, otherAgent],
    initial_message: {
      message: 'Hello {{ first_name }} and {{contact.first_name}}, on {{ day }}?',
    },
  }
  const view = await show('update_agent', args)
  await view.run()
  await view.frame.waitForSelector('#agree')
  expect(await badgeOf(view)).toBe('Waiting for you')
  expect(await view.frame.innerText('#warnings')).toBe('Unknown variables: “first_name, day”')
  expect(await countOf(view, '#warnings .icon')).toBe(1)
  const marks = '[...document.querySelectorAll("mark")].map((one) => one.textContent)'
  expect(await view.frame.evaluate(marks)).toEqual([
    '{{\u00a0first_name\u00a0}}',
    '{{\u00a0day\u00a0}}',
  ])
  expect(await countOf(view, '.answers .primary')).toBe(0)
  // The names are as wide as they need to be, unlike those of an agent's settings.
  const namesWidth =
    'parseFloat(getComputedStyle(document.querySelector(".facts")).gridTemplateColumns)'
  expect(await view.frame.evaluate(namesWidth)).toBeLessThan(120)
  expect(await accessibilityFlaws(view.frame)).toEqual([])
  await view.frame.click('#decline')
  await expect.poll(() => badgeOf(view)).toBe('Not changed')
})

test('who agrees has the call placed once, sees it, and the model is told', async () => {
  const view = await show('place_call', call)
  await view.run()
  await view.frame.waitForSelector('#agree')
  await view.frame.evaluate(
    '(() => { const button = document.querySelector("#agree"); button.click(); button.click() })()',
  )
  await expect.poll(() => modelHeard(view)).toContain('agreed')
  expect(view.calls.filter(({ name }) => name === 'place_call')).toHaveLength(1)
  expect(await view.text()).not.toMatch(/Plac(e|ing) the call/)
})

test('who declines has nothing done, the model is told, and the decision can be taken again', async () => {
  const view = await show('archive_agent', agent)
  await view.run()
  await view.frame.waitForSelector('#decline')
  await view.frame.click('#decline')
  await view.frame.waitForSelector('#reopen')
  expect(view.calls).toEqual([])
  expect(await view.frame.innerText('h1')).toBe('Agent “Support line”')
  expect(await badgeOf(view)).toBe('Not archived')
  expect(await view.frame.innerText('.notice p')).toBe('You said no. Nothing was done.')
  await expect.poll(() => modelHeard(view)).toContain('declined')
  await view.frame.click('#reopen')
  await view.frame.click('#agree')
  await expect.poll(view.text).toContain('Archived')
  expect(view.calls.filter(({ name }) => name === 'archive_agent')).toHaveLength(1)
})

/** The same question with other fields beside its token. */
const withFields = (fields: object, result: { readonly _meta?: unknown }) => {
  const meta = Object(result._meta)
  return {
    ...result,
    _meta: { ...meta, [decisionMetaKey]: { ...Object(meta[decisionMetaKey]), ...fields } },
  }
}

/** The same result as if it were `ms` older, as when a client reopens a conversation. */
const agedBy = (ms: number, result: { readonly _meta?: unknown }) => {
  const { expires_at } = Object(Object(result._meta)[decisionMetaKey])
  return withFields({ expires_at: new Date(Date.parse(expires_at) - ms).toISOString() }, result)
}

/** Sets the view's clock forward by `ms`, which also ages every result. */
const setForward = ({ frame }: ShownView, ms: number) =>
  frame.evaluate(`{ const now = Date.now; Date.now = () => now() + ${ms} }`)

test('a view that is opened again asks once what is open before it offers a button', async () => {
  const view = await show('archive_agent', agent)
  const preview = await view.callTool('archive_agent', agent)
  await setForward(view, 60_000)
  await view.send(preview)
  await view.frame.waitForSelector('#agree:not([aria-disabled])')
  expect(view.calls).toHaveLength(1)
  expect(view.calls[0]?.arguments?.confirm_token).toMatch(/^check:/)
  await view.frame.click('#agree')
  await expect.poll(view.text).toContain('Archived')
  // A reopened conversation contains the question without its answer.
  await view.send(preview)
  await expect.poll(() => badgeOf(view)).toBe('Archived')
  expect(await tabOrder(view)).toEqual(['assign', 'ids'])
})

test('an expired decision has no button but one that checks, which changes nothing', async () => {
  const view = await show('archive_agent', agent)
  await view.send(agedBy(700_000, await view.callTool('archive_agent', agent)))
  await view.frame.waitForSelector('#check')
  expect(await tabOrder(view)).toEqual(['check', 'ids'])
  // An earlier view of this conversation may have agreed.
  expect(await view.text()).toContain('may have been archived')
  expect(view.calls).toEqual([])
  await view.frame.click('#check')
  await view.frame.waitForSelector('#agree:not([aria-disabled])')
  expect(view.calls).toHaveLength(1)
  expect(view.calls[0]?.arguments?.confirm_token).toMatch(/^check:/)
  expect(await view.frame.innerText('.notice')).toContain('Nothing was done.')
})

test('where the time to answer runs out, the view says that nothing was agreed to', async () => {
  const view = await show('archive_agent', agent)
  await view.run()
  await view.frame.waitForSelector('#agree')
  // The timer of the next drawing runs out at once.
  await view.frame.evaluate(
    '{ const usual = setTimeout; setTimeout = (run, ms) => usual(run, Math.min(ms, 100)) }',
  )
  await view.change({ theme: 'dark' })
  await expect.poll(view.text).toContain('Nothing was done from here.')
  // Failing to ask again is no reason to doubt it.
  await view.page.evaluate('bridge.oncalltool = () => Promise.reject(new Error("gone"))')
  await view.frame.click('#check')
  await view.frame.waitForSelector('#details')
  expect(await view.text()).toContain('Nothing was done from here.')
  expect(await view.frame.innerText('#problem')).toBe('')
})

test('what speaks against a call stands first, without advice for models, and no button is the main one', async () => {
  const view = await show('update_agent', agent)
  const initial_message = { message: 'Your appointment is on {{ day }}.' }
  await view.callTool('update_agent', { ...agent, initial_message })
  const from_number = '+12025550177'
  await view.send(await view.callTool('place_call', { ...call, from_number }))
  await view.frame.waitForSelector('.notice[data-tone="warning"]')
  const warning = await view.frame.innerText('.notice[data-tone="warning"]')
  expect(warning).toMatch(
    /^Will probably fail: .*\+12025550177[^.]*\.\s+Left blank in the greeting: “day”$/,
  )
  expect(await countOf(view, '.facts mark')).toBe(1)
  expect(await view.frame.innerText('.facts mark')).toBe('[blank: day]')
  expect(await view.frame.innerText('.facts')).not.toMatch(/fail|Left blank/)
  // The warning is there once.
  expect((await view.text()).match(/probably fail/g)).toHaveLength(1)
  expect(await countOf(view, '#agree')).toBe(1)
  expect(await countOf(view, '.primary')).toBe(0)
  await view.frame.click('#problem-0')
  expect(await view.frame.innerText('.notice[data-tone="warning"]')).not.toBe(warning)
  expect(await accessibilityFlaws(view.frame)).toEqual([])
})

test('a call costs money, but not in the sandbox, and a browser call has words of its own', async () => {
  const view = await show('place_call', call)
  const preview = await view.callTool('place_call', call)
  await view.send(preview)
  await view.frame.waitForSelector('#agree')
  expect(await view.frame.innerText('header')).toMatch(/Sandbox\s+Simulated: nobody is rung/)
  expect(await countOf(view, '.consequence')).toBe(0)
  expect(await view.frame.innerText('#agree')).toBe('Place a simulated call')
  const { confirmation } = Object(Object(preview).structuredContent)
  const { Sandbox: _, ...facts } = confirmation.facts
  await view.send({ ...preview, structuredContent: { confirmation: { ...confirmation, facts } } })
  await expect.poll(() => view.frame.innerText('.consequence')).toContain('money')
  expect(await view.frame.innerText('#agree')).toBe('Place the call')
  expect(await view.frame.innerText('#deadline')).toMatch(/^1[01] minutes left$/)
  const browserCall = { type: 'web', agent_id: seedIds.supportAgent }
  await view.send(await view.callTool('place_call', browserCall))
  await expect.poll(() => view.frame.innerText('#agree')).toBe('Open a simulated call')
  expect(await view.frame.innerText('h1')).toBe('Open a browser call with “Support line”?')
})

test('a name cannot pass for words of the server, and a text is shown whole', async () => {
  const view = await show('delete_phone_number', { phone_number_id: seedIds.mainNumber })
  await view.callTool('update_phone_number', {
    phone_number_id: seedIds.mainNumber,
    inbound_agent_id: otherAgent,
  })
  await view.callTool('update_agent', { agent_id: otherAgent, name: 'nobody' })
  await view.run()
  await view.frame.waitForSelector('#agree')
  expect(await view.text()).toContain('“nobody”')
  const note = `Read out: "A" (${otherAgent}), " (${otherAgent})`
  const spoken = await show('place_call', { ...call, test_variables: { note } })
  await spoken.run()
  await spoken.frame.waitForSelector('#agree')
  expect(await spoken.text()).toContain(JSON.stringify(note))
})

test('who is asked again after the time was over reads that the call may have been placed', async () => {
  const view = await show('place_call', call)
  await view.send(withFields({ refused: 'expired' }, await view.callTool('place_call', call)))
  // The view first checks that nobody has used the new token.
  await view.frame.waitForSelector('#agree:not([aria-disabled])')
  expect(await view.frame.innerText('.notice')).toContain('may have been placed')
  expect(await countOf(view, '.primary')).toBe(0)
})

test('a device whose clock is an hour ahead can decide', async () => {
  const view = await show('archive_agent', agent)
  await setForward(view, 3_600_000)
  await view.run()
  await view.frame.click('#check')
  await view.frame.click('#agree')
  await expect.poll(view.text).toContain('Archived')
})

test('an effect that has changed is shown again before it is agreed to', async () => {
  const view = await show('delete_phone_number', { phone_number_id: seedIds.mainNumber })
  await view.run()
  await view.frame.waitForSelector('#agree')
  await view.callTool('update_phone_number', {
    phone_number_id: seedIds.mainNumber,
    inbound_agent_id: otherAgent,
  })
  await view.frame.click('#agree')
  await expect.poll(() => badgeOf(view)).toBe('Changed: read again')
  await view.frame.click('#ids')
  expect(await view.text()).toContain(otherAgent)
  const marked = '[...document.querySelectorAll(".facts dt:has(+ dd :is(del, ins))")]'
  expect(await view.frame.evaluate(`${marked}.map((one) => one.textContent)`)).toEqual([
    'Answered by',
  ])
  const text = (mark: string) =>
    view.frame.evaluate(`document.querySelector(".facts ${mark}").lastChild.textContent`)
  expect(await text('del')).not.toBe(await text('ins'))
})

test('a lost answer is one statement, and a check finds what was done', async () => {
  const view = await show('archive_agent', agent)
  await view.run()
  await view.frame.waitForSelector('#agree')
  await loseAnswers(view)
  await view.frame.click('#agree')
  await view.frame.waitForSelector('#check')
  expect(await view.frame.innerText('#problem')).toBe('')
  expect(await view.frame.evaluate('document.querySelector("#content").firstChild.className')).toBe(
    'notice stack',
  )
  expect(await tabOrder(view)).toEqual(['check', 'details', 'ids'])
  await view.frame.click('#check')
  await expect.poll(view.text).toContain('This could not be checked')
  await keepAnswers(view)
  await view.frame.click('#check')
  await expect.poll(() => badgeOf(view)).toBe('Archived')
  expect(await view.frame.innerText('h1')).toBe('Agent “Support line”')
  expect(await tabOrder(view)).toEqual(['assign', 'ids'])
})

test.each([
  ['place_call', { refused: 'used' }, 'Call to +12025550101', 'Agreed before'],
  ['place_call', { expires_at: new Date(0).toISOString() }, 'Call to +12025550101', 'Time is up'],
  ['delete_phone_number', { refused: 'used' }, 'Number +12025550110', 'Agreed before'],
])(
  'the title of a decision that is over asks nothing: %s, %o',
  async (tool, fields, title, badge) => {
    const args = tool === 'place_call' ? call : { phone_number_id: seedIds.mainNumber }
    const view = await show(tool, args)
    const preview = await view.callTool(tool, args)
    await view.send(withFields(fields, preview))
    await view.frame.waitForSelector('#check')
    expect(await view.frame.evaluate('document.querySelector("h1").textContent')).toBe(title)
    expect(await badgeOf(view)).toBe(badge)
    // It may have happened.
    expect(await toneOf(view)).toBe('warning')
    expect(await countOf(view, '.notice[data-tone="warning"]')).toBe(1)
    expect(await view.frame.innerText('.notice')).toMatch(/may have been (placed|deleted)\./)
    expect(await view.frame.evaluate('document.querySelector("#news").textContent')).toContain(
      `${title}. ${badge}. `,
    )
    // A question of another form becomes the noun of the action.
    const { confirmation } = Object(Object(preview).structuredContent)
    const structuredContent = { confirmation: { ...confirmation, question: '“?”' } }
    await view.send(withFields(fields, { ...preview, ...{ structuredContent } }))
    await expect.poll(() => view.frame.innerText('h1')).toMatch(/^The (call|number)$/)
  },
)

test('while an answer is on its way, the view says what is done, and the facts are not faded', async () => {
  const view = await show('archive_agent', agent)
  await view.run()
  await view.frame.waitForSelector('#agree')
  await view.page.evaluate('bridge.oncalltool = () => new Promise(() => {})')
  await view.frame.click('#agree')
  await expect.poll(() => view.frame.innerText('#status')).toBe('Archiving …')
  expect(await view.frame.innerText('#agree')).toBe('Archiving …')
  const opacity = 'getComputedStyle(document.querySelector("#content")).opacity'
  expect(await view.frame.evaluate(opacity)).toBe('1')
})

test('a change that failed can be asked for again, and is named in the title', async () => {
  const view = await show('archive_agent', agent)
  const failedWith = (kind: string) => ({
    content: [{ type: 'text', text: 'archive_agent failed.\nNext: Wait and call it again.' }],
    isError: true,
    _meta: { 'voice-agent-mcp/error': { kind } },
  })
  await view.send(failedWith('network'))
  await view.frame.waitForSelector('#ask')
  expect(await view.frame.innerText('h1')).toBe('Archive')
  expect(await view.text()).toContain('It is not known whether anything was changed.')
  expect(await view.text()).not.toContain('Try again')
  await view.frame.click('#details')
  expect(await view.frame.innerText('pre')).toBe('archive_agent failed.')
  expect(await accessibilityFlaws(view.frame)).toEqual([])
  await view.frame.click('#ask')
  await expect.poll(() => view.said).toHaveLength(1)
  await expect.poll(() => view.frame.innerText('[role=status].small')).toContain('Asked')
  expect(view.calls).toEqual([])
  await view.send(failedWith('conflict'))
  await expect.poll(view.text).toContain('Nothing was changed.')
  await view.send(await view.callTool('archive_agent', agent))
  await expect.poll(() => view.frame.innerText('h1')).toBe('Archive the agent “Support line”?')
})

test('a check finds the call whose answer was lost, and places no other', async () => {
  const view = await show('place_call', call)
  const count = async () => {
    const list = await view.callTool('list_calls', { agent_id: call.agent_id })
    return Object(Object(list).structuredContent).total
  }
  const before = await count()
  await view.run()
  await view.frame.waitForSelector('#agree')
  await loseAnswers(view)
  await view.frame.click('#agree')
  await view.frame.waitForSelector('#check')
  await keepAnswers(view)
  await view.frame.click('#check')
  await expect.poll(() => countOf(view, '#check, #agree, .notice strong')).toBe(0)
  expect(await count()).toBe(before + 1)
})

test('what the server cannot tell is asked in the conversation, without words of others', async () => {
  const view = await show('place_call', call)
  await view.send(withFields({ refused: 'used' }, await view.callTool('place_call', call)))
  await view.frame.click('#check')
  await view.frame.click('#ask')
  await expect.poll(() => view.said).toHaveLength(1)
  expect(JSON.stringify(view.said)).toContain('place_call')
  expect(JSON.stringify(view.said)).not.toContain(call.to_number)
  await expect.poll(() => countOf(view, 'button')).toBe(0)
  expect(await view.frame.innerText('.notice [role=status]')).toBe('Asked in the conversation.')
})

test('a late answer to a call is asked again only if the agent has called nobody since', async () => {
  const view = await show('place_call', call)
  const preview = await view.callTool('place_call', call)
  await answerWith(view, 'place_call', withFields({ refused: 'expired' }, preview))
  // The platform may list a call that was agreed to at the last moment only later.
  await view.send(agedBy(700_000, preview))
  await view.frame.click('#check')
  await expect.poll(() => badgeOf(view)).toBe('Outcome not known')
  expect(view.calls).toEqual([])
  await view.send(agedBy(900_000, preview))
  await view.frame.click('#check')
  await view.frame.click('#reopen')
  await view.frame.waitForSelector('#agree')
  expect(view.calls.map(({ name }) => name)).toEqual(['list_calls'])
  await view.callTool('place_call', {
    ...call,
    confirm_token: Object(Object(preview)._meta)[decisionMetaKey].confirm_token,
  })
  await view.send(agedBy(900_000, preview))
  await view.frame.click('#check')
  await expect.poll(() => badgeOf(view)).toBe('Outcome not known')
  expect(await countOf(view, '#agree, #reopen')).toBe(0)
})

describe('a list of calls', () => {
  const list = (count: number) => ({
    ...{ agent_id: call.agent_id, from_number: call.from_number },
    calls: Array.from({ length: count }, (_, at) => ({ to_number: `+120255501${at + 10}` })),
  })

  test('shows all numbers before it is agreed to, and then each outcome', async () => {
    const calls = list(3).calls.map((one, at) => ({ ...one, test_variables: { day: `Day ${at}` } }))
    const view = await show('place_calls', { ...list(3), calls })
    const initial_message = { message: 'Your appointment is on {{ day }}.' }
    await view.callTool('update_agent', { ...agent, initial_message })
    await view.run()
    await view.frame.waitForSelector('#agree')
    expect(await view.frame.innerText('.calls')).toMatch(/\+12025550110\s+day: “Day 0”/)
    expect(await view.text()).not.toContain('appointment is on Day')
    expect(await tabOrder(view)).toEqual(['calls', 'greetings', 'agree', 'decline', 'ids'])
    await view.frame.click('#agree')
    await view.frame.waitForSelector('table')
    expect(await countOf(view, 'tbody tr')).toBe(3)
    expect(view.calls.filter(({ name }) => name === 'place_calls')).toHaveLength(1)
  })

  test('of a hundred numbers scrolls in a box', async () => {
    const view = await show('place_calls', list(89), {
      page: { viewport: { width: 360, height: 640 } },
    })
    await view.run()
    await view.frame.waitForSelector('#agree')
    expect(await countOf(view, '.calls > li')).toBe(89)
    const isScrolled =
      '{ const box = document.querySelector("#calls"); box.scrollHeight > 2 * box.clientHeight }'
    expect(await view.frame.evaluate(isScrolled)).toBe(true)
    await expectFits(view)
  })
})

test('the focus and a live region follow the answer', async () => {
  const view = await show('archive_agent', agent)
  await view.run()
  await view.frame.waitForSelector('#decline')
  const focused = () =>
    view.frame.evaluate('document.activeElement.id || document.activeElement.tagName')
  const news = () => view.frame.evaluate('document.querySelector("#news").textContent')
  expect(await news()).toBe('')
  await view.frame.focus('#decline')
  await view.page.keyboard.press('Enter')
  await expect.poll(focused).toBe('H1')
  expect(await news()).toContain('Nothing was done.')
  await view.page.keyboard.press('Tab')
  expect(await focused()).toBe('reopen')
  await view.page.keyboard.press('Enter')
  await expect.poll(() => countOf(view, '#agree')).toBe(1)
  await view.page.evaluate('bridge.oncalltool = () => new Promise((done) => { answer = done })')
  await view.frame.focus('#agree')
  await view.page.keyboard.press('Enter')
  await view.frame.waitForSelector('#agree[aria-disabled]')
  expect(await focused()).toBe('agree')
  // The host has received the call.
  await expect.poll(() => view.page.evaluate('typeof answer')).toBe('function')
  const structuredContent = { done: true, agent_id: 'a', name: 'Support line' }
  await view.page.evaluate(`answer(${JSON.stringify({ content: [], structuredContent })})`)
  await expect.poll(focused).toBe('H1')
  expect(await news()).toBe('Support line. Archived')
})

test.each([
  ['on a trunk of your own', 'probably not, because it is on a trunk of your own', false],
  ['on the trunk of the platform', "probably, because it is on the platform's own trunk", true],
  ['that may have been purchased', 'not known', true],
])('the warning before a number %s is deleted fits it', async (_, Purchased, isLost) => {
  const args = { phone_number_id: seedIds.mainNumber }
  const view = await show('delete_phone_number', args)
  const preview = await view.callTool('delete_phone_number', args)
  const { confirmation } = Object(Object(preview).structuredContent)
  const facts = { ...confirmation.facts, Purchased }
  await view.send({ ...preview, structuredContent: { confirmation: { ...confirmation, facts } } })
  await view.frame.waitForSelector('.consequence')
  const consequence = () => view.frame.innerText('.consequence')
  expect((await consequence()).includes('lost for good')).toBe(isLost)
  expect(await consequence()).toContain('Callers of this number no longer reach “Support line”.')
  facts['Answered by'] = 'nobody'
  await view.send({ ...preview, structuredContent: { confirmation: { ...confirmation, facts } } })
  await expect.poll(consequence).not.toContain('Callers')
})

test('texts from right to left keep their direction', async () => {
  const view = await show('place_call', call, { page: { viewport: { width: 360, height: 640 } } })
  const preview = await view.callTool('place_call', call)
  const { confirmation } = Object(Object(preview).structuredContent)
  const facts = { Agent: '"مكتب الاستقبال"', Greeting: '"مرحبا، كيف يمكنني مساعدتك اليوم؟"' }
  const structuredContent = { confirmation: { ...confirmation, question: '"مرحبا"', facts } }
  await view.send({ ...preview, structuredContent })
  await view.frame.waitForSelector('#agree')
  expect(await countOf(view, 'dd :dir(rtl)')).toBe(2)
  expect(await countOf(view, 'h1:dir(rtl)')).toBe(1)
  expect(await countOf(view, 'dl:dir(rtl), .answers:dir(rtl)')).toBe(0)
  await expectFits(view)
})

test('a refused answer says that nothing was done', async () => {
  const view = await show('archive_agent', agent)
  await view.run()
  await view.frame.waitForSelector('#agree')
  const result = {
    content: [{ type: 'text', text: 'archive_agent failed: too many confirmations' }],
    isError: true,
    _meta: { 'voice-agent-mcp/error': { kind: 'not_allowed', retryable: true } },
  }
  await view.page.evaluate(`bridge.oncalltool = async () => (${JSON.stringify(result)})`)
  await view.frame.click('#agree')
  await expect.poll(() => badgeOf(view)).toBe('Not allowed')
  expect(await view.frame.innerText('#content')).toContain('The rules of this server')
  expect(await view.frame.innerText('#problem')).toBe('')
  await keepAnswers(view)
  await view.frame.click('#check')
  await view.frame.waitForSelector('#agree:not([aria-disabled])')
})

test.each([
  [{ deny_prefixes: ['+4930'] }, 'numbers that begin with +4930 are denied.'],
  [{ allow_agents: [otherAgent] }, 'Agent Support line may not place calls.'],
])('a call that the rules %j refuse has the rule, and another way on', async (policy, reason) => {
  const refused = { ...call, to_number: '+4930901820' }
  const view = await show('place_call', refused, {
    env: { ...env, VOICE_AGENT_DIAL_POLICY: JSON.stringify(policy) },
  })
  const refusal = await view.callTool('place_call', refused)
  const asking = await show('place_call', call)
  await asking.run()
  await asking.frame.waitForSelector('#agree')
  await answerWith(asking, 'place_call', refusal)
  await asking.frame.click('#agree')
  await expect.poll(() => badgeOf(asking)).toBe('Not allowed')
  expect(await asking.frame.innerText('.notice p')).toMatch(/^Nothing was done. /)
  expect(await asking.frame.innerText('.notice p')).toContain(reason)
  expect(await countOf(asking, '#check')).toBe(0)
  await asking.frame.click('#ask')
  await expect.poll(() => asking.said.length).toBe(1)
  expect(await accessibilityFlaws(asking.frame)).toEqual([])
})

test('a rule that refuses for hours is not asked again, and the wait is in hours', async () => {
  const view = await show('archive_agent', agent)
  await view.run()
  await view.frame.waitForSelector('#agree')
  const error = { kind: 'not_allowed', retryable: true, retryAfter: 30_000 }
  await answerWith(view, 'archive_agent', {
    ...{ content: [], isError: true, _meta: { 'voice-agent-mcp/error': error } },
  })
  await view.frame.click('#agree')
  await expect.poll(() => view.text()).toContain('Try again in 9 h.')
  expect(await countOf(view, '#check')).toBe(0)
})

test.each([
  ['calls no tools for a view', { context: { withoutTools: true } }, 0],
  ['has no model context', { context: { withoutModelContext: true } }, 2],
])('a host that %s is served', async (_, more, buttons) => {
  const view = await show('archive_agent', agent, more)
  await view.run()
  await expect.poll(() => badgeOf(view)).toBe('Waiting for you')
  expect(await countOf(view, 'button')).toBe(buttons)
  expect(view.complaints).toEqual([])
})

test.each([
  ['delete_phone_number', { phone_number_id: seedIds.mainNumber }, /^This cannot be undone\./],
  ['place_call', call, /^Calls cost money and cannot be hung up from here\.$/],
])('a decision without buttons still has its consequence: %s', async (tool, args, words) => {
  const view = await show(tool, args, { context: { withoutTools: true } })
  const preview = await view.callTool(tool, args)
  const { confirmation } = Object(Object(preview).structuredContent)
  const { Sandbox: _, ...facts } = confirmation.facts
  const structuredContent = {
    confirmation: { ...confirmation, facts: { ...facts, 'Will probably fail': '"No trunk."' } },
  }
  await view.send({ ...preview, structuredContent })
  await view.frame.waitForSelector('.notice')
  expect(await view.text()).toContain('Answer in the conversation.')
  expect(await view.frame.innerText('#warnings')).toBe('Will probably fail: No trunk.')
  expect(await view.frame.innerText('.consequence')).toMatch(words)
  expect(await countOf(view, '.facts ~ .consequence .icon')).toBe(1)
  expect(await countOf(view, 'button')).toBe(0)
  expect(await accessibilityFlaws(view.frame)).toEqual([])
  // What is decided has no consequence to know before.
  const declined = { confirmation: { ...confirmation, facts, state: 'declined' } }
  await view.send({ ...preview, structuredContent: declined })
  await expect.poll(() => countOf(view, '.consequence')).toBe(0)
})

test('where a person has to agree in a form, there is no button', async () => {
  const view = await show('archive_agent', agent, {
    env: { ...env, VOICE_AGENT_CONFIRM: 'person' },
  })
  await view.run()
  await view.frame.waitForSelector('.state.failed')
  expect(await view.frame.evaluate('document.querySelectorAll("#agree").length')).toBe(0)
})
