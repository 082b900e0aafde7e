import { type Counted, listedCalls, startUsagePlatform } from '../harness/usage-platform.ts'
import type { Picture } from './picture.ts'

/*
 * Pictures of the usage view: a dental practice with fewer calls at weekends and in one quiet week.
 */

const day = 86_400_000
const october = Date.UTC(2026, 9, 1)
/** Midnight UTC of the current day, ms since 1970. */
const today = Math.floor(Date.now() / day) * day

const agents = [
  { id: 'agent-1', name: 'Front desk' },
  { id: 'agent-2', name: 'Terminservice' },
  { id: 'agent-3', name: 'Reminders' },
]

/** Calls per weekday, from Sunday. */
const perDay = [2, 14, 11, 12, 9, 16, 4]

/** Conversations of 30 days from `first`, and of the days before. The current day is half over. */
const conversationsAround = (first: number, agentsCount = 3, daysBefore = 31): Counted[] =>
  Array.from({ length: daysBefore + 30 }, (_, at) => {
    const start = first + (at - daysBefore) * day
    const usual = perDay[new Date(start).getUTCDay()] ?? 0
    const isQuiet = at >= daysBefore + 14 && at < daysBefore + 21
    const isToday = start === today
    const count = Math.ceil(usual / (isQuiet ? 3 : isToday ? 2 : 1))
    const timeOf = (call: number) =>
      isToday
        ? start + ((Date.now() - start) * call) / count
        : start + 8 * 3_600_000 + call * 1_700_000
    return Array.from({ length: count }, (_, call) => ({
      at: new Date(timeOf(call)).toISOString(),
      seconds: 70 + ((at * 37 + call * 53) % 190),
      agent: `agent-${1 + (agentsCount > 3 ? (call * 5 + at) % agentsCount : (call * 7 + at) % 6 > 3 ? 2 : (call + at) % 2)}`,
    }))
  })
    .flat()
    .filter(({ at }) => Date.parse(at) < Date.now() || first < today)

/** Calls of the conversations. Every sixth was missed or busy before, and every 50th failed. */
const callsOf = (conversations: readonly Counted[]) =>
  conversations.flatMap(({ at, agent }, index) => {
    const call = { type: 'phone', direction: 'outbound', agent_id: agent, created: at }
    const numbers = { from_number: '+12025550110', to_number: '+12025550123' }
    const failed = { ...call, ...numbers, id: `failed-${index}`, status: 'failed' }
    const completed = { ...call, ...numbers, id: `call-${index}`, status: 'completed' }
    const missed = index % 4 === 0 ? 'user_busy' : 'user_unavailable'
    return [
      { ...completed, answer_status: 'human' },
      ...(index % 6 === 0 ? [{ ...failed, answer_status: missed }] : []),
      ...(index % 50 === 7 ? [{ ...failed, id: `error-${index}`, answer_status: 'unknown' }] : []),
    ]
  })

interface Scene {
  readonly conversations?: readonly Counted[]
  readonly named?: readonly { readonly id: string; readonly name: string }[]
  readonly args?: Readonly<Record<string, unknown>>
}

const inOctober = { start: '2026-10-01T00:00:00Z', end: '2026-10-29T00:00:00Z' }
const byAgent = { granularity: 'day', group_by: ['agent'] }

/** A fake platform with usage; by default the days of October by agent. */
async function usagePlatform({
  conversations = conversationsAround(october),
  named = agents,
  args = { ...inOctober, ...byAgent },
}: Scene = {}) {
  const platform = await startUsagePlatform(
    conversations,
    {},
    {
      '/agents': { count: named.length, items: named },
      '/calls': listedCalls(callsOf(conversations)),
    },
  )
  return Object.assign(platform, { call: { tool: 'get_usage', args } })
}

const sinceFortnight = new Date(today - 13 * day).toISOString()
const practice = [
  ...['Front desk', 'Terminservice', 'Patientenaufnahmekoordinationsassistentin', 'Recalls'],
  ...['استقبال المرضى', 'Reminders', 'Emergency line', 'Billing', 'Orthodontics', 'Night desk'],
].map((name, at) => ({ id: `agent-${at + 1}`, name }))

const usagePicture = (name: string, scene: Scene, more: Partial<Picture> = {}): Picture => ({
  ...{ name, open: () => usagePlatform(scene), ready: 'canvas' },
  ...more,
})

export const usagePictures: readonly Picture[] = [
  usagePicture('usage', {}),
  usagePicture('usage-today', {
    conversations: conversationsAround(today - 13 * day),
    args: { ...byAgent, start: sinceFortnight },
  }),
  usagePicture(
    'usage-scrolled',
    {
      conversations: conversationsAround(today - 13 * day, 10),
      named: practice,
      args: { ...byAgent, start: sinceFortnight },
    },
    {
      page: { viewport: { width: 360, height: 640 } },
      async point(view) {
        await view.frame.evaluate('document.querySelector("#table").scrollTo(150, 9999)')
      },
    },
  ),
  usagePicture(
    'usage-chosen',
    {},
    {
      async point(view) {
        await view.frame.evaluate('document.activeElement.blur()')
        await view.frame.focus('#chart')
        for (const _ of [1, 2, 3]) await view.page.keyboard.press('ArrowRight')
      },
    },
  ),
  usagePicture('usage-ungrouped', { args: { ...inOctober, granularity: 'day' } }),
  usagePicture('usage-many', {
    ...{ conversations: conversationsAround(october, 10), named: practice },
    args: { ...inOctober, granularity: 'day', group_by: ['agent'] },
  }),
  usagePicture('usage-hours', {
    args: {
      ...byAgent,
      start: '2026-10-05T00:00:00Z',
      end: '2026-10-10T00:00:00Z',
      granularity: 'hour',
    },
  }),
  usagePicture('usage-months', {
    conversations: conversationsAround(october, 3, 92),
    args: { ...inOctober, start: '2026-09-01T00:00:00Z', granularity: 'month' },
  }),
  usagePicture(
    'usage-compared',
    {
      args: {
        ...inOctober,
        start: '2026-10-15T00:00:00Z',
        ...byAgent,
        compare_start: inOctober.start,
      },
    },
    { ready: 'table' },
  ),
  usagePicture(
    'usage-total',
    { args: { ...inOctober, group_by: ['agent'], granularity: 'total' } },
    { ready: 'table' },
  ),
  usagePicture('usage-without-tools', {}, { context: { withoutTools: true } }),
  usagePicture('usage-empty', { conversations: [] }, { ready: '.state' }),
  usagePicture('usage-german', {}, { context: { locale: 'de', timeZone: 'Europe/Berlin' } }),
]
