import type { AccountKey } from './accounts.ts'

/** An agent of the company. Absent fields get usual values. */
export interface AgentSeed {
  readonly name: string
  readonly account?: AccountKey
  readonly tags: readonly string[]
  readonly greeting: string
  readonly language?: 'en-us' | 'en-gb' | 'de-de' | 'es-es'
  readonly isArchived?: boolean
  /** Further fields, in the form of create_agent. */
  readonly more?: Readonly<Record<string, unknown>>
}

const frontDesk: readonly AgentSeed[] = [
  {
    name: 'Reception',
    tags: ['front-desk', 'en'],
    greeting: 'Northwind Dental, good day. How can I help you?',
    more: {
      note: 'Answers the main line. Ask Petra before changing opening hours.',
      initial_message: { delay_ms: 800, interruptible: true },
      metadata: { cost_centre: '4100', owner: 'petra' },
    },
  },
  {
    name: 'Support line',
    tags: ['support', 'en'],
    greeting: 'Hello {{ contact.first_name }}, this is Northwind support. What can I do for you?',
    more: {
      note: 'Questions about invoices and insurance.',
      max_duration_seconds: 900,
      allow_auto_hangup: true,
      ambient_sound: { source: 'customer_service_center', volume: 0.2 },
      interrupt_settings: { min_words: 2 },
      metadata: { cost_centre: '4200' },
    },
  },
  {
    name: 'Support line German',
    tags: ['support', 'de'],
    greeting: 'Guten Tag, hier ist der Support von Northwind. Was kann ich tun?',
    language: 'de-de',
  },
  {
    name: 'Support line Spanish',
    tags: ['support', 'es'],
    greeting: 'Hola, aquí el soporte de Northwind. ¿En qué puedo ayudarle?',
    language: 'es-es',
  },
]

const reminders: readonly AgentSeed[] = [
  {
    name: 'Appointment reminders',
    tags: ['reminder', 'en'],
    greeting: 'Hello {{ contact.first_name }}, I am calling about your appointment tomorrow.',
    more: { voice: { settings: { stability: 0.4, similarity_boost: 0.8, speed: 0.95 } } },
  },
  {
    name: 'Appointment reminders German',
    tags: ['reminder', 'de', 'reviewed'],
    greeting: 'Guten Tag, ich rufe wegen Ihres Termins morgen an.',
    language: 'de-de',
  },
  {
    name: 'Recall reminders',
    tags: ['reminder', 'en', 'half-yearly'],
    greeting: 'Hello {{ contact.first_name }}, it is time for your half-yearly check-up.',
  },
  {
    name: 'Payment reminders',
    tags: ['billing', 'reminder'],
    greeting:
      'Hello {{ contact.first_name }, this is Northwind about invoice {{ invoice_number }}.{% if overdue_days > 14 %} It is {{ overdue_days }} days overdue.{% endfi %} May I help you with it?',
  },
  // An agent that is about reminders by its name, but not by its tags.
  {
    name: 'Reminder trial',
    tags: ['trial'],
    greeting: 'Hello, this is a trial of our reminders.',
  },
]

const outbound: readonly AgentSeed[] = [
  {
    name: 'Sales outreach',
    tags: ['sales', 'en'],
    greeting: 'Hello {{ contact.first_name }}, have you heard of {{ offer_name }}?',
  },
  {
    name: 'Customer survey',
    tags: ['survey', 'en'],
    greeting: 'Hello, may I ask you three short questions about your visit?',
    more: { model: { provider: 'anthropic', model: 'claude-sonnet-4-20250514', temperature: 0.3 } },
  },
]

const springCampaign: readonly AgentSeed[] = ['A', 'B', 'C', 'D'].map((letter) => ({
  name: `Spring campaign ${letter}`,
  tags: ['campaign-spring', `group-${letter.toLowerCase()}`],
  greeting: 'Hello {{ contact.first_name }}, spring is the season of healthy teeth.',
}))

const regions = ['north', 'south', 'east'] as const
const products = ['implant', 'retainer', 'veneer', 'crown', 'aligner'] as const

/**
 * Fifteen agents with the tag of a quarter (`q3`), which differ in other tags, maximum durations
 * and keywords, and one agent without such a tag.
 */
const quarter: readonly AgentSeed[] = [
  ...Array.from({ length: 15 }, (_, index) => ({
    name: `Outreach ${String(index + 1).padStart(2, '0')}`,
    tags: ['outreach', 'q3', regions[index % 3] ?? 'north', ...(index % 4 === 0 ? ['vip'] : [])],
    greeting: 'Hello {{ contact.first_name }}, I have news from Northwind for you.',
    more: {
      max_duration_seconds: 300 + (index % 3) * 120,
      transcriber: {
        model: 'nova-3:general',
        languages: ['en-us', ...(index % 2 === 0 ? ['fr-fr'] : [])],
        keywords: ['Northwind Card', products[index % 5] ?? 'implant'],
      },
    },
  })),
  {
    name: 'Outreach lead',
    tags: ['outreach', 'lead'],
    greeting:
      '{% if contact.first_name %}Hello {{ contact.first_name | title }}{% else %}Good day{% endif %}, {% if visit.days == 0 %}we see you today{% elif visit.days == 1 %}we see you tomorrow{% else %}we see you in {{ visit.days }} days{% endif %}.',
  },
]

const branches: readonly AgentSeed[] = [
  {
    name: 'Reception Berlin',
    account: 'berlin',
    tags: ['front-desk', 'de'],
    greeting: 'Northwind Berlin, guten Tag.',
    language: 'de-de',
  },
  {
    name: 'Reminders Berlin',
    account: 'berlin',
    tags: ['berlin', 'de'],
    greeting: 'Guten Tag, ich rufe wegen Ihres Termins in Berlin an.',
    language: 'de-de',
    more: { capture_settings: { recording_enabled: false } },
  },
  {
    name: 'Reception Hamburg',
    account: 'hamburg',
    tags: ['front-desk', 'de'],
    greeting: 'Northwind Hamburg, moin.',
    language: 'de-de',
  },
  {
    name: 'Tourist desk Hamburg',
    account: 'hamburg',
    tags: ['front-desk', 'en'],
    greeting: 'Northwind Hamburg, how can I help you?',
  },
]

/** All agents of the company, in order of creation. */
export const agentSeeds: readonly AgentSeed[] = [
  ...frontDesk,
  ...reminders,
  ...outbound,
  ...springCampaign,
  ...quarter,
  {
    name: 'Summer campaign',
    tags: ['campaign-summer'],
    greeting: 'Hello, have a good summer.',
    isArchived: true,
  },
  ...branches,
]

const voices = {
  'en-us': 'sbx-en-us-ada',
  'en-gb': 'sbx-en-gb-oliver',
  'de-de': 'sbx-de-de-greta',
  'es-es': 'sbx-es-es-ines',
} as const

/** The agent's creation request. `more` is merged into its settings, one level deep. */
export function agentBody({ name, tags, greeting, language = 'en-us', more = {} }: AgentSeed) {
  const { model, transcriber, voice, initial_message, ...rest } = more
  return {
    name,
    tags: [...tags],
    model: {
      provider: 'openai',
      model: 'gpt-4.1',
      temperature: 0.7,
      max_tokens: 512,
      ...part(model),
    },
    transcriber: {
      provider: 'deepgram',
      model: 'nova-2:general',
      languages: [language],
      ...part(transcriber),
    },
    voice: {
      provider: 'elevenlabs',
      voice_id: voices[language],
      language,
      settings: { stability: 0.5, similarity_boost: 0.75, speed: 1 },
      ...part(voice),
    },
    initial_message: { message: greeting, ...part(initial_message) },
    ...rest,
  }
}

const part = (value: unknown) => (typeof value === 'object' ? value : {})
