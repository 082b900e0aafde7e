import { createAccount } from './accounts.ts'
import { callSettings, defaultSpeech } from './agent-call-settings.ts'
import { createAgent } from './agents.ts'
import { planCall } from './call-plan.ts'
import { rowOfPlan } from './call-row.ts'
import { type Content, type Fixture, loadContent, type NextId } from './fixture/fixture.ts'
import { hotelContent } from './fixture/hotel.ts'
import { insertSipTrunk } from './sip-trunks.ts'
import type { Store } from './store.ts'

const day = 24 * 3_600_000

/**
 * Data of a new sandbox. `small`: fixed data whose ids, names and counts programs can rely on.
 * `full`: the same, plus a hotel with a busy and a quiet week. A fixture: data that the user
 * describes.
 */
export type Seed = 'small' | 'full' | Fixture

/** Fills a new sandbox. */
export function seed(store: Store, now: number, what: Seed): void {
  if (typeof what === 'object') seedFixture(store, now, what)
  else seedSmall(store, now)
  if (what === 'full') {
    const ids = countingIds(0x10)
    loadContent(hotelContent(now), contentOf(store, { now, ids, accountId: seedIds.account }))
  }
}

/** Keys of a new sandbox: two unrelated accounts, and a subaccount of the first. */
export const sandboxKeys = {
  main: 'sandbox-key',
  subaccount: 'sandbox-subaccount-key',
  other: 'sandbox-other-key',
} as const

/** A fixed id in UUID v4 form, for examples and tests. */
const seedId = (kind: number, index: number) =>
  `00000000-0000-4000-8${kind.toString(16).padStart(3, '0')}-${index.toString(16).padStart(12, '0')}`

/** Ids of a new sandbox's data. */
export const seedIds = {
  account: seedId(1, 1),
  subaccount: seedId(1, 2),
  secondSubaccount: seedId(1, 3),
  otherAccount: seedId(1, 4),
  supportAgent: seedId(2, 1),
  trunk: seedId(3, 1),
  inboundTrunk: seedId(3, 2),
  mainNumber: seedId(4, 1),
  spareNumber: seedId(4, 2),
  inboundNumber: seedId(4, 3),
} as const

/** Fixed data: accounts, agents, trunks, numbers and sixty days of calls. */
function seedSmall(store: Store, now: number): void {
  seedAccounts(store, now - 90 * day)
  agentSeeds.forEach((agent, index) => {
    createAgent(store, {
      id: seedId(2, index + 1),
      accountId: seedIds.account,
      body: agentBody(agent),
      now: now - (80 - index) * day,
    })
  })
  seedLines(store, now - 80 * day)
  seedCalls(store, now)
}

interface AgentSeed {
  name: string
  tags: string[]
  note: string
  message: string
  language: string
  voiceId: string
}

const agentSeeds: AgentSeed[] = [
  {
    name: 'Support line',
    tags: ['support', 'en'],
    note: 'Answers questions about orders.',
    message: 'Hello {{ contact.first_name }}, this is the support line. How can I help you?',
    language: 'en-us',
    voiceId: 'sbx-en-us-ada',
  },
  {
    name: 'Appointment reminders',
    tags: ['reminder', 'en'],
    note: 'Calls the day before an appointment.',
    message: 'Hello {{ contact.first_name }}, I am calling about your appointment tomorrow.',
    language: 'en-us',
    voiceId: 'sbx-en-us-brian',
  },
  {
    name: 'Terminservice',
    tags: ['reminder', 'de'],
    note: 'German appointments.',
    message: 'Guten Tag, hier ist der Terminservice.',
    language: 'de-de',
    voiceId: 'sbx-de-de-greta',
  },
]

function seedAccounts(store: Store, created: number): void {
  const { account, subaccount, secondSubaccount, otherAccount } = seedIds
  const add = accountAdder(store, created)
  add(account, 'Sandbox account', null, sandboxKeys.main)
  add(subaccount, 'Sandbox branch', account, sandboxKeys.subaccount)
  add(secondSubaccount, 'Sandbox franchise', account)
  add(otherAccount, 'Unrelated account', null, sandboxKeys.other)
}

function agentBody({ name, tags, note, message, language, voiceId }: AgentSeed) {
  const { model, transcriber, voice } = defaultSpeech(language, voiceId)
  const settings = { stability: 0.5, similarity_boost: 0.75, speed: 1 }
  return {
    name,
    tags,
    note,
    model,
    transcriber,
    voice: { ...voice, settings },
    initial_message: { message },
  }
}

/** An outbound trunk with two numbers, and an inbound trunk. */
function seedLines(store: Store, created: number): void {
  const { account: account_id, trunk, inboundTrunk, supportAgent } = seedIds
  const office = { name: 'Office trunk', termination_uri: 'sip.sandbox.example:5060' }
  const inbound = { name: 'Inbound only', termination_uri: null }
  const allowed_ips = ['192.0.2.10', '198.51.100.0/24']
  insertSipTrunk(store, { id: trunk, account_id, ...office, allowed_ips }, created)
  insertSipTrunk(store, { id: inboundTrunk, account_id, ...inbound, allowed_ips }, created)

  const add = (
    id: string,
    number: string,
    friendly_name: string,
    links: { sip_trunk_id: string; inbound_agent_id: string | null },
  ) => store.insert('phone_numbers', { id, account_id, number, friendly_name, ...links, created })
  const answered = { sip_trunk_id: trunk, inbound_agent_id: supportAgent }
  add(seedIds.mainNumber, '+12025550110', 'Main line', answered)
  add(seedIds.spareNumber, '+12025550111', 'Spare line', { ...answered, inbound_agent_id: null })
  const hotline = { sip_trunk_id: inboundTrunk, inbound_agent_id: supportAgent }
  add(seedIds.inboundNumber, '+12025550112', 'Hotline', hotline)
}

/** Destinations of past calls; together they cover every outcome. */
const pastDestinations = ['0100', '0120', '0103', '0121', '0105', '0122', '0101', '0104', '0123']

const pastCalls = 120

function seedCalls(store: Store, now: number): void {
  for (let index = 0; index < pastCalls; index++) {
    const agent = index % agentSeeds.length
    const isInbound = index % 4 === 3
    const isWeb = index % 10 === 9
    const contact = `+1202555${pastDestinations[index % pastDestinations.length]}`
    const main = '+12025550110'
    const plan = planCall({
      ...(!isInbound && !isWeb && { toNumber: contact }),
      greeting: {
        text: agentSeeds[agent]?.message.replace('{{ contact.first_name }}', 'Sam') ?? '',
        error: null,
      },
      settings: callSettings({ voice: { language: agentSeeds[agent]?.language } }),
    })
    const row = rowOfPlan(
      {
        account_id: seedIds.account,
        type: isWeb ? 'web' : 'phone',
        direction: isInbound || isWeb ? 'inbound' : 'outbound',
        agent_id: seedId(2, agent + 1),
        agent_name: agentSeeds[agent]?.name ?? null,
        phone_number_id: isWeb ? null : seedIds.mainNumber,
        from_number: isWeb ? null : isInbound ? contact : main,
        to_number: isWeb ? null : isInbound ? main : contact,
        external_id: null,
        is_recorded: 1,
      },
      plan,
      {
        id: seedId(5, index + 1),
        created: now - (pastCalls - index) * (day / 2) - 1_800_000,
        speed: 1,
      },
    )
    store.insert('calls', row)
  }
}

/** Generates consecutive ids, starting at `first`. */
function countingIds(first: number): NextId {
  const kinds = { agent: 2, trunk: 3, number: 4, call: 6 }
  const next = { agent: first, trunk: first, number: first, call: first }
  return (kind) => seedId(kinds[kind], next[kind]++)
}

const contentOf = (
  store: Store,
  { now, ids, accountId }: { now: number; ids: NextId; accountId: string },
) => ({ store, now, accountId, nextId: ids, created: now - 80 * day })

/**
 * Loads a fixture. The API keys, and an account unrelated to the others, are the same in every
 * sandbox, so a fixture has neither.
 */
function seedFixture(store: Store, now: number, { account, subaccounts, ...main }: Fixture): void {
  const ids = countingIds(1)
  const add = accountAdder(store, now - 90 * day)
  const fill = (accountId: string, content: Content) =>
    loadContent(content, contentOf(store, { now, ids, accountId }))
  add(seedIds.account, account ?? 'Sandbox account', null, sandboxKeys.main)
  fill(seedIds.account, main)
  for (const [at, { name, ...content }] of subaccounts.entries()) {
    const id = at === 0 ? seedIds.subaccount : seedId(1, 0x10 + at)
    add(id, name, seedIds.account, at === 0 ? sandboxKeys.subaccount : undefined)
    fill(id, content)
  }
  add(seedIds.otherAccount, 'Unrelated account', null, sandboxKeys.other)
}

/** Adds accounts that were created at the same time. */
const accountAdder =
  (store: Store, created: number) =>
  (id: string, name: string, parentId: string | null, apiKey?: string) =>
    createAccount(store, { id, name, parentId, now: created, apiKey })
