import { decisionMetaKey } from '../../src/apps/decision-meta.ts'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { type Picture, pictureAccount } from './picture.ts'

const call = {
  state: 'needed',
  question: 'Call +4930901820 ("Praxis am Wannsee") as "Front desk"?',
  facts: {
    To: '+4930901820 (Germany)',
    From: '+12025550110 ("Main line")',
    Agent: '"Front desk" (00000000-0000-4000-8002-000000000001)',
    Greeting:
      '"Good morning, this is Elm Street Dental on a recorded line. May I speak to [name]?"',
    'Stays empty': 'name',
    Account: '"Elm Street Dental" (00000000-0000-4000-8001-000000000001)',
  },
}
const number = {
  state: 'needed',
  question: 'Delete the number +12025550110?',
  facts: {
    Number: '"+12025550110" (00000000-0000-4000-8004-000000000001)',
    Name: '"Main line"',
    Trunk: '"Managed" (00000000-0000-4000-8003-000000000001)',
    'Answered by': '"Support line" (00000000-0000-4000-8002-000000000001)',
    'Calls running now': '1',
    Purchased: "probably, because it is on the platform's own trunk",
    Undo: 'None: a purchased number is released, and may be lost for good.',
  },
}

const asked = (tool: string, confirmation: object, more: object = {}, leftMs = 655_000) => ({
  content: [],
  structuredContent: { confirmation },
  _meta: {
    [decisionMetaKey]: {
      ...{ tool, confirm_token: 'x', expires_at: new Date(Date.now() + leftMs).toISOString() },
      ...more,
    },
  },
})

const picture = (
  name: string,
  tool: string,
  result: () => object,
  ready: string,
  before?: () => object,
): Picture => ({
  name,
  ready,
  open: async () =>
    Object.assign(
      await startFakePlatform((_, response) => json(response, 200, {}), {
        account: pictureAccount,
      }),
      { call: { tool, args: {} } },
    ),
  act: async (view) => {
    if (before) await view.send(before())
    await view.send(result())
  },
})

const archived = ['Front desk', 'Terminservice', 'Reminders'].map((name, at) => ({
  ...{ agent_id: `agent-${at}`, name },
  ...[
    { outcome: 'archived' },
    { outcome: 'in_use', problem: 'It answers +12025550110.' },
    { outcome: 'failed', problem: 'The platform did not answer in time.' },
  ][at],
}))

/** Every state of a decision, and its outcome. */
export const decisionPictures: readonly Picture[] = [
  picture('decision', 'delete_phone_number', () => asked('delete_phone_number', number), '#agree'),
  picture('decision-call', 'place_call', () => asked('place_call', call), '#agree'),
  picture(
    'decision-changed',
    'place_call',
    () => asked('place_call', call, { refused: 'changed' }),
    '#agree',
    () => asked('place_call', { ...call, facts: { ...call.facts, From: '+12025550111' } }),
  ),
  picture(
    'decision-used',
    'place_call',
    () => asked('place_call', call, { refused: 'used' }),
    '.notice',
  ),
  picture('decision-expired', 'place_call', () => asked('place_call', call, {}, -1000), '#check'),
  picture(
    'decision-done',
    'archive_agent',
    () => ({ content: [], structuredContent: { agents: archived } }),
    'table',
  ),
]
