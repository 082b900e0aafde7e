import { describe, expect, test } from 'vitest'
import { decisionMetaKey } from '../../src/apps/decision-meta.ts'
import { seedIds } from '../harness/sandbox.ts'
import { accessibilityFlaws } from './open-browser.ts'
import { browserOfFile } from './shared-browser.ts'
import { expectWellMade, places, showUntilEnd, tabOrder } from './view-host/checked-view.ts'
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

const modelHeard = ({ modelContexts }: ShownView) => JSON.stringify(modelContexts)

describe.each(places)('a decision %s', (_, page) => {
  test('has its facts and two buttons, and nothing is done before one is pressed', async () => {
    const view = await show('place_call', call, { page })
    await view.run()
    await view.frame.waitForSelector('#agree')
    expect(await view.text()).toContain('+12025550101')
    expect(await view.text()).not.toContain('confirm_token')
    // Names are in typographic quotes; ids are hidden.
    expect(await view.text()).not.toMatch(/"|0000-4000/)
    expect(await tabOrder(view)).toEqual(['agree', 'decline', 'ids'])
    expect(view.calls).toEqual([])
    await expectWellMade(view, page)
  })
})

test('an archive of several agents tells in its headline how many are archived now', async () => {
  const view = await show('archive_agent', agent)
  const agents = ['archived', 'unchanged', 'failed'].map((outcome) => ({ name: 'A', outcome }))
  await view.send({ content: [], structuredContent: { agents } })
  await view.frame.waitForSelector('table')
  expect(await view.frame.innerText('h1')).toBe('2 of 3 agents archived')
})

test('who agrees has the call placed once, sees it, and the model is told', async () => {
  const view = await show('place_call', call)
  await view.run()
  await view.frame.waitForSelector('#agree')
  await view.frame.evaluate(
    '(() => { const button = document.querySelector("#agree"); button.click(); button.click() })()',
  )
  await expect.poll(view.text).not.toContain('Place the call')
  expect(view.calls.filter(({ name }) => name === 'place_call')).toHaveLength(1)
  await expect.poll(() => modelHeard(view)).toContain('agreed')
})

test('who declines has nothing done, the model is told, and the decision can be taken again', async () => {
  const view = await show('archive_agent', agent)
  await view.run()
  await view.frame.waitForSelector('#decline')
  await view.frame.click('#decline')
  await view.frame.waitForSelector('#reopen')
  expect(view.calls).toEqual([])
  await expect.poll(() => modelHeard(view)).toContain('declined')
  await view.frame.click('#reopen')
  await view.frame.click('#agree')
  await expect.poll(view.text).toContain('Archived')
  expect(view.calls).toHaveLength(1)
})

/** The same result as if it were `ms` older, as when a client reopens a conversation. */
const agedBy = (ms: number, result: { readonly _meta?: unknown }) => {
  const meta = Object(result._meta)
  const decision = Object(meta[decisionMetaKey])
  const expires_at = new Date(Date.parse(decision.expires_at) - ms).toISOString()
  return { ...result, _meta: { ...meta, [decisionMetaKey]: { ...decision, expires_at } } }
}

/** Sets the view's clock forward by `ms`, which also ages every result. */
const setForward = ({ frame }: ShownView, ms: number) =>
  frame.evaluate(`{ const now = Date.now; Date.now = () => now() + ${ms} }`)

test('a view that is opened again asks once what is open before it offers a button', async () => {
  const view = await show('archive_agent', agent)
  const preview = await view.callTool('archive_agent', agent)
  await setForward(view, 60_000)
  await view.send(preview)
  await view.frame.waitForSelector('#agree:not(:disabled)')
  expect(view.calls).toHaveLength(1)
  expect(view.calls[0]?.arguments?.confirm_token).toMatch(/^check:/)
  await view.frame.click('#agree')
  await expect.poll(view.text).toContain('Archived')
  // A reopened conversation contains the question without its answer.
  await view.send(preview)
  await expect.poll(view.text).toContain('Already answered')
  expect(await view.frame.evaluate('document.querySelectorAll("button").length')).toBe(0)
})

test('an expired decision has no button but one that asks again', async () => {
  const view = await show('archive_agent', agent)
  await view.send(agedBy(700_000, await view.callTool('archive_agent', agent)))
  await view.frame.waitForSelector('#check')
  // An earlier view of this conversation may have agreed.
  expect(await view.text()).toContain('If you agreed before that')
  expect(view.calls).toEqual([])
  await view.frame.click('#check')
  await view.frame.waitForSelector('#agree:not(:disabled)')
  expect(view.calls).toHaveLength(1)
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
  await expect.poll(view.text).toContain('Nothing was agreed to here.')
  expect(await view.frame.innerText('#check')).toBe('Ask me again')
  // Failing to ask again is no reason to doubt it.
  await view.page.evaluate('bridge.oncalltool = () => Promise.reject(new Error("gone"))')
  await view.frame.click('#check')
  await expect.poll(() => view.frame.innerText('#problem')).not.toBe('')
  expect(await view.text()).toContain('Nothing was agreed to here.')
})

test('what speaks against a call stands above the buttons, without advice for models', async () => {
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
  expect(await view.frame.innerText('.facts')).not.toMatch(/fail|blank/)
  await view.frame.click('#problem-0')
  expect(await view.frame.innerText('.notice[data-tone="warning"]')).not.toBe(warning)
  expect(await accessibilityFlaws(view.frame)).toEqual([])
})

test('a call costs money, but not in the sandbox, and a browser call has words of its own', async () => {
  const view = await show('place_call', call)
  const preview = await view.callTool('place_call', call)
  await view.send(preview)
  await view.frame.waitForSelector('#agree')
  expect(await view.text()).toMatch(/Sandbox\s+simulated/)
  expect(await view.text()).not.toContain('money')
  const { confirmation } = Object(Object(preview).structuredContent)
  const { Sandbox: _, ...facts } = confirmation.facts
  await view.send({ ...preview, structuredContent: { confirmation: { ...confirmation, facts } } })
  await expect.poll(view.text).toContain('Calls cost money')
  const browserCall = { type: 'web', agent_id: seedIds.supportAgent }
  await view.send(await view.callTool('place_call', browserCall))
  await expect.poll(() => view.frame.innerText('#agree')).toBe('Open the call')
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

test('who is asked again after the time was over reads that it may be done', async () => {
  const view = await show('archive_agent', agent)
  const preview = await view.callTool('archive_agent', agent)
  const decision = Object(Object(preview._meta)[decisionMetaKey])
  await view.send({ ...preview, _meta: { [decisionMetaKey]: { ...decision, refused: 'expired' } } })
  // The view first checks that nobody has used the new token.
  await view.frame.waitForSelector('#agree:not([disabled])')
  expect(await view.text()).toContain('it has probably been done')
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
  await expect.poll(view.text).toContain('has changed')
  expect(await view.text()).toMatch(/Changed: read again[\s\S]*Before: /)
  await view.frame.click('#ids')
  expect(await view.text()).toContain(otherAgent)
  const marked = '[...document.querySelectorAll(".facts dt:has(+ dd .badge)")]'
  expect(await view.frame.evaluate(`${marked}.map((one) => one.textContent)`)).toEqual([
    'Answered by',
  ])
})

test('a lost answer offers no second try, but to check what was done', async () => {
  const view = await show('archive_agent', agent)
  await view.run()
  await view.frame.waitForSelector('#agree')
  await view.page.evaluate('bridge.oncalltool = () => Promise.reject(new Error("gone"))')
  await view.frame.click('#agree')
  await view.frame.waitForSelector('#check')
  expect(await view.text()).toContain('Not known whether it was done.')
  expect(await view.frame.evaluate('document.querySelectorAll("#agree").length')).toBe(0)
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
  await expect.poll(view.text).toContain('Nothing was done.')
  expect(await view.text()).not.toContain('Not known')
})

test.each([
  ['calls no tools for a view', 'archive_agent', { context: { withoutTools: true } }],
  ['has no model context', 'archive_agent', { context: { withoutModelContext: true } }],
])('a host that %s is served', async (_, tool, more) => {
  const view = await show(tool, agent, more)
  await view.run()
  await expect.poll(view.text).toContain('Nothing was done yet')
  expect(view.complaints).toEqual([])
})

test('where a person has to agree in a form, there is no button', async () => {
  const view = await show('archive_agent', agent, {
    env: { ...env, VOICE_AGENT_CONFIRM: 'person' },
  })
  await view.run()
  await view.frame.waitForSelector('.state.failed')
  expect(await view.frame.evaluate('document.querySelectorAll("#agree").length')).toBe(0)
})
