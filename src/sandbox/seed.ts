import { insertAccount } from './accounts.ts'
import { createAgent } from './agents.ts'
import { planCall } from './call-plan.ts'
import { insertCall, rowOfPlan } from './call-row.ts'
import { callSettings } from './call-settings.ts'
import { insertPhoneNumber } from './phone-numbers.ts'
import { insertSipTrunk } from './sip-trunks.ts'
import type { Store } from './store.ts'

/** Keys of a new sandbox: two unrelated accounts, and a subaccount of the first. */
export const sandboxKeys = {
  main: 'sandbox-key',
  subaccount: 'sandbox-subaccount-key',
  other: 'sandbox-other-key',
} as const

const day = 24 * 3_600_000

/** A fixed id in the form of a UUID v4, so that examples and tests can name it. */
const seedId = (kind: number, index: number) =>
  `00000000-0000-4000-8${kind.toString(16).padStart(3, '0')}-${index.toString(16).padStart(12, '0')}`

/** Ids of what a new sandbox holds. */
export const seedIds = {
  account: seedId(1, 1),
  subaccount: seedId(1, 2),
  otherAccount: seedId(1, 3),
  supportAgent: seedId(2, 1),
  trunk: seedId(3, 1),
  mainNumber: seedId(4, 1),
  spareNumber: seedId(4, 2),
} as const

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
    voiceId: 'sbx-el-ada',
  },
  {
    name: 'Appointment reminders',
    tags: ['reminder', 'en'],
    note: 'Calls the day before an appointment.',
    message: 'Hello {{ contact.first_name }}, I am calling about your appointment tomorrow.',
    language: 'en-us',
    voiceId: 'sbx-el-brian',
  },
  {
    name: 'Terminservice',
    tags: ['reminder', 'de'],
    note: 'German appointments.',
    message: 'Guten Tag, hier ist der Terminservice.',
    language: 'de-de',
    voiceId: 'sbx-el-greta',
  },
  {
    name: 'Reservas',
    tags: ['booking', 'es'],
    note: 'Spanish bookings.',
    message: 'Hola, gracias por llamar. ¿En qué puedo ayudarle?',
    language: 'es-es',
    voiceId: 'sbx-el-ines',
  },
  {
    name: 'Delivery survey',
    tags: ['survey', 'en'],
    note: 'Three questions after a delivery.',
    message: 'Hello, do you have a minute for three questions about your delivery?',
    language: 'en-gb',
    voiceId: 'sbx-el-clara',
  },
]

const branchAgent: AgentSeed = {
  name: 'Branch support',
  tags: ['support', 'en'],
  note: 'Answers for the branch.',
  message: 'Hello, this is the branch. How can I help you?',
  language: 'en-us',
  voiceId: 'sbx-el-ada',
}

/** Fills a new sandbox: accounts, agents, a trunk, two numbers and thirty days of calls. */
export function seed(store: Store, now: number): void {
  seedAccounts(store, now - 90 * day)
  agentSeeds.forEach((agent, index) => {
    createAgent(store, {
      id: seedId(2, index + 1),
      accountId: seedIds.account,
      body: agentBody(agent),
      now: now - (60 - index) * day,
    })
  })
  createAgent(store, {
    id: seedId(2, 100),
    accountId: seedIds.subaccount,
    body: agentBody(branchAgent),
    now: now - 40 * day,
  })
  seedLine(store, now - 80 * day)
  seedCalls(store, now)
}

function seedAccounts(store: Store, created: number): void {
  const account = (id: string, name: string, parent_id: string | null, apiKey: string) => {
    insertAccount(store, { id, parent_id, name, is_active: 1, created, modified: created })
    store.run('INSERT INTO api_keys VALUES (:apiKey, :id)', { apiKey, id })
  }
  account(seedIds.account, 'Sandbox account', null, sandboxKeys.main)
  account(seedIds.subaccount, 'Sandbox branch', seedIds.account, sandboxKeys.subaccount)
  account(seedIds.otherAccount, 'Unrelated account', null, sandboxKeys.other)
}

function agentBody({ name, tags, note, message, language, voiceId }: AgentSeed) {
  return {
    name,
    tags,
    note,
    model: { provider: 'openai', model: 'gpt-4.1', temperature: 0.7, max_tokens: 512 },
    transcriber: { provider: 'deepgram', model: 'nova-2', languages: [language] },
    voice: {
      provider: 'elevenlabs',
      voice_id: voiceId,
      language,
      settings: { stability: 0.5, similarity_boost: 0.75, speed: 1 },
    },
    initial_message: { message },
  }
}

function seedLine(store: Store, created: number): void {
  const { account, trunk, mainNumber, spareNumber, supportAgent } = seedIds
  insertSipTrunk(
    store,
    {
      id: trunk,
      account_id: account,
      name: 'Office trunk',
      termination_uri: 'sip.sandbox.example:5060',
      allowed_ips: ['192.0.2.10', '198.51.100.0/24'],
    },
    created,
  )
  const number = (id: string, digits: string, friendly_name: string, agent: string | null) =>
    insertPhoneNumber(
      store,
      {
        id,
        account_id: account,
        number: digits,
        friendly_name,
        sip_trunk_id: trunk,
        inbound_agent_id: agent,
      },
      created,
    )
  number(mainNumber, '+12025550110', 'Main line', supportAgent)
  number(spareNumber, '+12025550111', 'Spare line', null)
}

/** Destinations of the past calls, so that every outcome occurs among them. */
const pastDestinations = ['0100', '0120', '0103', '0121', '0105', '0122', '0101', '0104', '0123']

function seedCalls(store: Store, now: number): void {
  for (let index = 0; index < 60; index++) {
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
      settings: callSettings({}),
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
      { id: seedId(5, index + 1), created: now - (60 - index) * (day / 2) - 1_800_000, speed: 1 },
    )
    insertCall(store, row)
  }
}
