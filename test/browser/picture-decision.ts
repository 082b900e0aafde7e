import { decisionMetaKey } from '../../src/apps/views.ts'
import { envelope, json, startFakePlatform } from '../harness/fake-platform.ts'
import { seedIds } from '../harness/sandbox.ts'
import { type Picture, pictureAccount } from './picture.ts'
import type { ShownView } from './view-host/view-host.ts'

/*
 * The questions are those of the server, for the objects of a fake platform. Only the results of
 * an archive and the ages of the questions are made up here.
 */

type Fields = Readonly<Record<string, unknown>>

const id = (at: number) => `00000000-0000-4000-8002-00000000000${at}`
const trunk = {
  ...{ id: id(1), name: 'Office', is_managed: false },
  termination_uri: 'sip:office.example',
}
const agent = {
  id: id(2),
  name: 'Front desk',
  initial_message: {
    mode: 'fixed_message',
    message: 'Good morning, this is Elm Street Dental. Your appointment is on {{ day }}.',
  },
}
const number = {
  ...{ id: id(3), number: '+12025550110', friendly_name: 'Main line', sip_trunk: trunk },
  inbound_agent: { id: agent.id, name: agent.name },
}
/** No trunk, so that it cannot dial out. */
const spare = { ...{ id: id(4), number: '+12025550111', friendly_name: 'Spare line' } }
/** A number on the platform's own trunk. */
const purchased = {
  ...{ id: id(5), number: '+12025550112', friendly_name: 'Night line', inbound_agent: null },
  sip_trunk: { ...trunk, id: id(6), name: 'Platform', is_managed: true },
}
const others = ['Terminservice', 'Reminders'].map((name, at) => ({ id: id(7 + at), name }))
const branch = { id: id(9), name: 'Elm Street West', is_active: true }
const account = { id: pictureAccount, name: 'Elm Street Dental', is_active: true }

/** The platform's check of a greeting with a variable that nothing fills. */
const checkedTemplate = {
  ...{ valid: true, errors: [], warnings: [] },
  ...{ variables: ['first_name'], unknown_variables: ['first_name'] },
}

/** A fake platform with the objects above. */
async function platformOf(call: { readonly tool: string; readonly args: Fields }) {
  const lists: Readonly<Record<string, readonly Fields[]>> = {
    ...{ 'phone-numbers': [number, spare, purchased], 'sip-trunks': [trunk] },
    ...{ agents: [agent, ...others], calls: [], subaccounts: [branch] },
  }
  const all = new Map<unknown, Fields>(
    [...Object.values(lists).flat(), account].map((one) => [one.id, one]),
  )
  const platform = await startFakePlatform(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://platform')
    const last = pathname.split('/').at(-1) ?? ''
    const items = searchParams.get('is_archived') === 'true' ? [] : lists[last]
    const found = last === 'current' ? account : all.get(last)
    if (last === 'validate-template') json(response, 200, checkedTemplate)
    else if (items) json(response, 200, { count: items.length, items })
    else json(response, found ? 200 : 404, found ?? envelope('not_found', 'No such object.'))
  })
  return Object.assign(platform, { call })
}

const placing = {
  tool: 'place_call',
  args: {
    ...{ type: 'phone', agent_id: agent.id, to_number: '+4930901820' },
    ...{ from_number: number.number, test_variables: { day: 'Thursday' } },
  },
}

/** Calls of `place_calls`. */
const batch = (calls: readonly Fields[]) => ({
  tool: 'place_calls',
  args: { agent_id: agent.id, from_number: number.number, calls },
})
const berlin = (at: number) => `+493090182${String(at).padStart(3, '0')}`
const appointments = ['Thursday', 'Friday', 'Monday'].map((day, at) => ({
  to_number: berlin(at),
  test_variables: { day },
}))
/** The longest list, in which all calls are alike. */
const hundred = Array.from({ length: 100 }, (_, at) => ({ to_number: berlin(at) }))

const asking = { VOICE_AGENT_CONFIRM: 'always' }

/** The view of a call of a tool. By default it gets the question of the server. */
const picture = (
  name: string,
  call: { readonly tool: string; readonly args: Fields },
  { ready = '#agree', ...more }: Partial<Picture> = {},
): Picture => ({ name, ready, env: asking, open: () => platformOf(call), ...more })

/** Makes the host answer each tool call of the view with this result, or not at all. */
const answerWith = (view: ShownView, result?: object) =>
  view.page.evaluate(
    `bridge.oncalltool = () => ${result ? `Promise.resolve(${JSON.stringify(result)})` : 'new Promise(() => {})'}`,
  )

/** The server's question, whose token has other fields. */
async function sendQuestion(
  view: ShownView,
  fields: Fields,
  args: Fields = placing.args,
): Promise<void> {
  const { _meta, ...result } = await view.callTool(placing.tool, args)
  const decision = { ...Object(Object(_meta)[decisionMetaKey]), ...fields }
  await view.send({ ...result, _meta: { [decisionMetaKey]: decision } })
}

/** The server's answer to a call at night. */
const quietHours =
  '+4930901820 is not called now: it is 22:10 in Europe/Berlin, in the quiet hours (21:00 to 08:00).'
const quietText = `place_call failed: the call is not allowed (quiet_hours): ${quietHours} Nothing was dialled.`

const archived = ['Front desk', 'Terminservice', 'Reminders'].map((name, at) => ({
  ...{ agent_id: `agent-${at}`, name },
  ...[
    { outcome: 'archived' },
    { outcome: 'in_use', problem: 'answers +12025550110 ("Main line")' },
    { outcome: 'failed', problem: 'The API key may not archive this agent.' },
  ][at],
}))

/** Every state of a decision, and its outcome. */
export const decisionPictures: readonly Picture[] = [
  picture('decision', { tool: 'delete_phone_number', args: { phone_number_id: number.id } }),
  picture('decision-archive', { tool: 'archive_agent', args: { agent_id: agent.id } }),
  picture('decision-purchased', {
    ...{ tool: 'delete_phone_number', args: { phone_number_id: purchased.id } },
  }),
  picture('decision-trunk', { tool: 'delete_sip_trunk', args: { sip_trunk_id: trunk.id } }),
  picture('decision-archive-many', {
    tool: 'archive_agent',
    args: { agent_ids: [agent.id, ...others.map((one) => one.id)] },
  }),
  picture('decision-subaccount', {
    tool: 'update_subaccount',
    args: { subaccount_id: branch.id, is_active: false },
  }),
  picture('decision-greeting', {
    tool: 'update_agent',
    args: {
      agent_ids: [agent.name, others[0]?.name],
      initial_message: { message: 'Good morning {{ first_name }}, this is Elm Street Dental.' },
    },
  }),
  picture('decision-call', placing),
  picture('decision-batch', batch(appointments)),
  picture('decision-batch-long', batch(hundred)),
  picture('decision-warned', {
    ...placing,
    args: { ...placing.args, from_number: spare.number, test_variables: undefined },
  }),
  picture('decision-browser', {
    ...placing,
    args: { type: 'web', agent_id: agent.id, test_variables: { day: 'Thursday' } },
  }),
  picture(
    'decision-sandbox',
    { ...placing, args: { ...placing.args, agent_id: seedIds.supportAgent } },
    {
      env: { ...asking, VOICE_AGENT_BASE_URL: '', VOICE_AGENT_API_KEY: '' },
    },
  ),
  picture('decision-changed', placing, {
    act: async (view) => {
      await sendQuestion(view, {}, { ...placing.args, test_variables: { day: 'Friday' } })
      await sendQuestion(view, { refused: 'changed' })
    },
  }),
  picture('decision-used', placing, {
    ready: '#check',
    act: (view) => sendQuestion(view, { refused: 'used' }),
  }),
  picture('decision-expired', placing, {
    ready: '#check',
    act: (view) => sendQuestion(view, { expires_at: new Date(0).toISOString() }),
  }),
  picture('decision-lost', placing, {
    ready: '#check',
    act: async (view) => {
      await view.run()
      await view.page.evaluate('bridge.oncalltool = () => Promise.reject(new Error("no answer"))')
      await view.frame.click('#agree')
    },
  }),
  picture('decision-unknown', placing, {
    ready: '#ask',
    act: async (view) => {
      await sendQuestion(view, { refused: 'used' })
      await view.frame.click('#check')
    },
  }),
  picture('decision-not-done', placing, {
    ready: '#reopen',
    act: async (view) => {
      await sendQuestion(view, { expires_at: new Date(0).toISOString() })
      const { _meta, ...result } = await view.callTool(placing.tool, placing.args)
      const decision = { ...Object(Object(_meta)[decisionMetaKey]), refused: 'expired' }
      await answerWith(view, {
        ...result,
        _meta: { [decisionMetaKey]: { ...decision, is_done: false } },
      })
      await view.frame.click('#check')
    },
  }),
  picture('decision-refused', placing, {
    ready: '#ask',
    act: async (view) => {
      await view.run()
      await answerWith(view, {
        content: [{ type: 'text', text: quietText }],
        isError: true,
        _meta: {
          'voice-agent-mcp/error': {
            ...{ kind: 'not_allowed', ruleText: quietHours, retryAfter: 36_000 },
          },
        },
      })
      await view.frame.click('#agree')
    },
  }),
  picture('decision-declined', placing, {
    ready: '#reopen',
    act: async (view) => {
      await view.run()
      await view.frame.click('#decline')
    },
  }),
  picture('decision-reopened', placing, {
    ready: '#agree[aria-disabled]',
    act: async (view) => {
      const preview = await view.callTool(placing.tool, placing.args)
      await answerWith(view)
      // A question that is a minute old: the view checks what has happened since.
      await view.frame.evaluate('{ const now = Date.now; Date.now = () => now() + 60_000 }')
      await view.send(preview)
    },
  }),
  picture('decision-not-agreed', placing, {
    ready: '#check',
    act: async (view) => {
      await view.run()
      await view.frame.waitForSelector('#agree')
      // The timer of the next drawing runs out at once.
      await view.frame.evaluate(
        '{ const usual = setTimeout; setTimeout = (run, ms) => usual(run, Math.min(ms, 100)) }',
      )
      await view.change({ locale: 'en-US' })
    },
  }),
  picture('decision-checking', placing, {
    ready: '#check[aria-disabled=true]',
    act: async (view) => {
      await sendQuestion(view, { refused: 'used' })
      await answerWith(view)
      await view.frame.click('#check')
    },
  }),
  picture('decision-working', placing, {
    ready: '#agree[aria-disabled]',
    act: async (view) => {
      await view.run()
      await answerWith(view)
      await view.frame.click('#agree')
    },
  }),
  picture('decision-elsewhere', placing, { ready: '.notice', context: { withoutTools: true } }),
  picture(
    'decision-elsewhere-delete',
    { tool: 'delete_phone_number', args: { phone_number_id: number.id } },
    { ready: '.notice', context: { withoutTools: true } },
  ),
  picture(
    'decision-done',
    { tool: 'archive_agent', args: {} },
    {
      ready: 'table',
      act: (view) => view.send({ content: [], structuredContent: { agents: archived } }),
    },
  ),
  picture(
    'decision-done-already',
    { tool: 'archive_agent', args: { agent_id: agent.id } },
    {
      ready: '.badge[data-tone="success"]',
      act: async (view) => {
        const { _meta, ...result } = await view.callTool('archive_agent', { agent_id: agent.id })
        const decision = {
          ...Object(Object(_meta)[decisionMetaKey]),
          refused: 'used',
          is_done: true,
        }
        await view.send({ ...result, _meta: { [decisionMetaKey]: decision } })
        await answerWith(view, { ...result, _meta: { [decisionMetaKey]: decision } })
        await view.frame.click('#check')
        await view.frame.waitForSelector('.badge[data-tone="success"]')
      },
    },
  ),
]
