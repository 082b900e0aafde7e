import { ok } from 'node:assert/strict'
import { people, type thirdDozen } from '../dozens/third-hardest-jobs.ts'
import {
  type Assistant,
  callsTo,
  days,
  lastWeek,
  outcomeOf,
  type Solution,
  tokenIn,
} from './assistant.ts'

/** A conversation as `list_conversations` shows it, with part of its transcript. */
interface Spoken {
  readonly agent: string
  readonly contact: string
  /** Text of each shown turn, such as `user: Thank you.` */
  readonly turns: readonly string[]
}

/**
 * Parses conversations with parts of their transcripts: a line that begins with a hyphen, then a
 * line per turn.
 */
async function spoken(assistant: Assistant, args: Record<string, unknown>): Promise<Spoken[]> {
  const text = await assistant.text('list_conversations', { ...args, limit: 100 })
  ok(!text.includes('Next page'), text)
  return text
    .split(/^- /m)
    .slice(1)
    .map((one) => ({
      agent: /; agent (.+?);/.exec(one)?.[1] ?? '',
      contact: /; with (.+?);/.exec(one)?.[1] ?? '',
      turns: [...one.matchAll(/^ {2}\d+ (.+)$/gm)].map(([, turn = '']) => turn),
    }))
}

const lastSaid = ({ turns }: Spoken) =>
  turns.findLast((turn) => turn.startsWith('user: '))?.slice('user: '.length)

/** How a conversation ended, from its last event: "The caller hung up.", "Nobody answered." */
const endOf = (event = '') =>
  event
    .replace(/^event: (?:The (?:callee (?:is )?)?)?/, '')
    .replace(/\.$/, '')
    .toLowerCase()

export const thirdSolutions: Readonly<Record<keyof typeof thirdDozen, Solution>> = {
  'transferred-words': async (assistant) => {
    const args = { ...lastWeek, status: 'transferred', transcript: 'last_words' }
    const found = await spoken(assistant, args)
    return found.map((one) => `${one.contact}: ${lastSaid(one)}`).join('\n')
  },

  'word-of-month': async (assistant) => {
    const found = await spoken(assistant, {
      ...days('2026-10-01', '2026-11-01'),
      search: 'refund',
      said_by: 'user',
    })
    return found.map(({ agent, contact }) => `${agent}, ${contact}`).join('\n')
  },

  'ends-of-day': async (assistant) => {
    const monday = days('2026-11-16', '2026-11-17')
    const found = await spoken(assistant, { ...monday, transcript: 'end' })
    return found
      .map((one) =>
        [one.contact, endOf(one.turns.at(-1)), lastSaid(one)].filter(Boolean).join(': '),
      )
      .join('\n')
  },

  /**
   * One tool call suffices: each row has the previous period in brackets, and each failure its id.
   */
  'review-of-week': async (assistant) => {
    const review = await assistant.text('list_calls', {
      ...lastWeek,
      review: true,
      evidence: 100,
      include_subaccounts: true,
    })
    const outcomes = ['completed', 'transferred', 'failed']
    const [, byAgent = ''] = /^By agent:\n((?:- .*\n)*)/m.exec(review) ?? []
    // "- Reception (id): 14 (12, +2): completed 12 (9), transferred 2 (3), failed 0 (0)"
    const rows = [...byAgent.matchAll(/^- (.+) \(.+?\): \d+ \(.*?\): (.*)$/gm)]
    const agents = rows.map(([, name = '', counts = '']) => {
      const [now, before] = [1, 2].map((column) =>
        outcomes.map((one) => new RegExp(`${one} (\\d+) \\((\\d+)\\)`).exec(counts)?.[column] ?? 0),
      )
      return `${name}: ${[...(now ?? []), ...(before ?? [])].join(', ')}`
    })
    // "- failed, nobody answered (user_unavailable): 6 (4, +2); id 2026-11-13 09:20 …; more: id, id"
    const failures = [...review.matchAll(/^- failed, (.+?) \((?:user_\w+)\): (.*)$/gm)]
    const evidence = failures.flatMap(([, reason = '', calls = '']) =>
      [...calls.matchAll(/[\da-f]{8}-[\da-f-]{27}/g)].map(([id]) => `${id}: ${reason}`),
    )
    return [...agents, ...evidence].join('\n')
  },

  'clear-out': async (assistant) => {
    const text = await assistant.agreed('archive_agent', {
      where: {
        any_tag: ['front-desk', 'survey', 'trial', 'es', 'campaign-spring'],
        unused_since: '2026-09-23T00:00:00Z',
      },
      include_subaccounts: true,
    })
    const [, archived = ''] = /^Archived: (.*)$/m.exec(text) ?? []
    return archived
      .replaceAll(/ \(.*?\)/g, '')
      .split(/[,;] /)
      .join('\n')
  },

  'every-number-answered': async (assistant) => {
    await assistant.text('update_phone_number', {
      where: { sip_trunk_id: 'Old carrier' },
      inbound_agent_id: 'Support line',
    })
    for (const city of ['', 'Berlin', 'Hamburg'])
      await assistant.text('update_phone_number', {
        where: { unanswered: true },
        inbound_agent_id: city ? `Reception ${city}` : 'Reception',
        ...(city && { account_id: `${city} branch` }),
      })
    return 'Done.'
  },

  'new-gateway': (assistant) =>
    assistant.text('update_sip_trunk', {
      sip_trunk_ids: ['*'],
      include_subaccounts: true,
      add: { allowed_ips: ['198.51.100.7'] },
      remove: { allowed_ips: ['203.0.113.9'] },
    }),

  'new-keywords': async (assistant) => {
    const edit = {
      add: { keywords: ['Northwind Plus', 'implant'], languages: ['es-es'] },
      remove: { keywords: ['Northwind Card'] },
    }
    await assistant.text('update_agent', { where: { tags: ['q3', 'north'] }, ...edit })
    await assistant.text('update_agent', { agent_ids: ['*'], account_id: 'Berlin branch', ...edit })
    return 'Done.'
  },

  'copies-as-saved': async (assistant) => {
    const lines: string[] = []
    for (const [city, max_duration_seconds] of [
      ['Berlin', 600] as const,
      ['Hamburg', 450] as const,
    ]) {
      const name = `Support line ${city}`
      const text = await assistant.text('copy_agent', {
        agent_id: 'Support line',
        name,
        to_account_id: `${city} branch`,
        changes: { max_duration_seconds },
      })
      const saved = ['max_duration_seconds', 'interrupt_settings.min_words', 'ambient_sound.source']
      const values = saved.map((path) => text.split(`${path} `)[1]?.match(/[\w"]+/)?.[0])
      lines.push(`${name}: ${values.join(', ')}`)
    }
    return lines.join('\n')
  },

  'every-branch': async (assistant) => {
    const text = await assistant.text('validate_agent_template', {
      agent_id: 'Outreach lead',
      test_variables: { contact: { first_name: 'sam' }, visit: { days: 5 } },
    })
    const spoken = [...text.matchAll(/^- .*: "(.*)"$/gm)].map(([, words]) => words)
    return spoken.join('\n')
  },

  'cure-and-call': async (assistant) => {
    const args = {
      agent_id: 'Recall reminders',
      from_number: 'Inbound line',
      calls: callsTo(people),
      follow: true,
    }
    const preview = await assistant.text('place_calls', args)
    const confirm_token = tokenIn(preview)
    // "… cannot dial out: … Move the number to a trunk that can dial out: Office trunk (with Main line, …"
    const [, sip_trunk_id] =
      /cannot dial out: .* can dial out: (.+?) \(with Main line/.exec(preview) ?? []
    ok(sip_trunk_id, preview)
    await assistant.text('update_phone_number', { phone_number_id: 'Inbound line', sip_trunk_id })
    const text = await assistant.text('place_calls', { ...args, confirm_token })
    return Object.entries(people)
      .map(([name, number]) => {
        const [, opening] = new RegExp(`^\\${number} agent: (.*)$`, 'm').exec(text) ?? []
        return `${name}: ${outcomeOf(number, text)}: ${opening}`
      })
      .join('\n')
  },

  drill: async (assistant) => {
    const message = 'We are closed because of a storm. Please call again tomorrow.'
    const greeting = { initial_message: { message } }
    const all = { with_tag: 'outreach', ...greeting, max_duration_seconds: 60 }
    const changed = [
      await assistant.text('update_agent', all),
      await assistant.text('update_agent', { agent_id: 'Reception', ...greeting }),
    ]
    for (const text of changed) {
      const [, undo] = /undo (\w+)/.exec(text) ?? []
      await assistant.text('update_agent', { undo })
    }
    const [, tagged] = /^(\d+) agents/.exec(changed[0] ?? '') ?? []
    return `${Number(tagged) + 1} agents took part.`
  },
}
