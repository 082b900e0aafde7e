import { type Counted, startUsagePlatform } from '../harness/usage-platform.ts'
import type { Picture } from './picture.ts'

const day = 86_400_000

const agents = [
  { id: 'agent-1', name: 'Front desk' },
  { id: 'agent-2', name: 'Terminservice' },
  { id: 'agent-3', name: 'Reminders' },
]

/** Calls by day of the week, from Sunday; the third week of the month is a quiet one. */
const perDay = [2, 14, 11, 12, 9, 16, 4]

function novemberCalls(): Counted[] {
  const start = Date.UTC(2026, 10, 1)
  return Array.from({ length: 28 }, (_, at) => {
    const usual = perDay[at % 7] ?? 0
    const calls = at >= 14 && at < 21 ? Math.ceil(usual / 3) : usual
    return Array.from({ length: calls }, (_, call) => ({
      at: new Date(start + at * day + 8 * 3_600_000 + call * 1_700_000).toISOString(),
      seconds: 70 + ((at * 37 + call * 53) % 190),
      agent: `agent-${1 + ((call * 7 + at) % 6 > 3 ? 2 : (call + at) % 2)}`,
    }))
  }).flat()
}

async function novemberUsage() {
  const platform = await startUsagePlatform(
    novemberCalls(),
    {},
    {
      '/agents': { count: agents.length, items: agents },
    },
  )
  const args = {
    start: '2026-11-01T00:00:00Z',
    end: '2026-11-29T00:00:00Z',
    granularity: 'day',
    group_by: ['agent'],
  }
  return Object.assign(platform, { call: { tool: 'get_usage', args } })
}

export const usagePictures: readonly Picture[] = [
  { name: 'usage', open: novemberUsage, ready: 'canvas' },
]
