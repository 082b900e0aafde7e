import { decisionMetaKey } from '../../src/apps/decision-meta.ts'
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
const account = { id: pictureAccount, name: 'Elm Street Dental', is_active: true }

/** A fake platform with the objects above. */
async function platformOf(call: { readonly tool: string; readonly args: Fields }) {
  const lists: Readonly<Record<string, readonly Fields[]>> = {
    ...{ 'phone-numbers': [number, spare], 'sip-trunks': [trunk], agents: [agent], calls: [] },
  }
  const all = new Map<unknown, Fields>(
    [...Object.values(lists).flat(), account].map((one) => [one.id, one]),
  )
  const platform = await startFakePlatform(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://platform')
    const last = pathname.split('/').at(-1) ?? ''
    const items = searchParams.get('is_archived') === 'true' ? [] : lists[last]
    const found = last === 'current' ? account : all.get(last)
    if (items) json(response, 200, { count: items.length, items })
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

const asking = { VOICE_AGENT_CONFIRM: 'always' }

/** The view of a call of a tool. By default it gets the question of the server. */
const picture = (
  name: string,
  call: { readonly tool: string; readonly args: Fields },
  { ready = '#agree', ...more }: Partial<Picture> = {},
): Picture => ({ name, ready, env: asking, open: () => platformOf(call), ...more })

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

const archived = ['Front desk', 'Terminservice', 'Reminders'].map((name, at) => ({
  ...{ agent_id: `agent-${at}`, name },
  ...[
    { outcome: 'archived' },
    { outcome: 'in_use', problem: 'answers +12025550110 ("Main line")' },
    { outcome: 'failed', problem: 'The platform did not answer in time. Try again later.' },
  ][at],
}))

/** Every state of a decision, and its outcome. */
export const decisionPictures: readonly Picture[] = [
  picture('decision', { tool: 'delete_phone_number', args: { phone_number_id: number.id } }),
  picture('decision-archive', { tool: 'archive_agent', args: { agent_id: agent.id } }),
  picture('decision-call', placing),
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
    ready: '.notice',
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
  picture(
    'decision-done',
    { tool: 'archive_agent', args: {} },
    {
      ready: 'table',
      act: (view) => view.send({ content: [], structuredContent: { agents: archived } }),
    },
  ),
]
