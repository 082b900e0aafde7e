import type { Usage } from '../usage.ts'
import { type Examples, exampleIds } from './ids.ts'

export const examplePeriod = {
  start: '2026-11-01T00:00:00+01:00',
  end: '2026-11-03T00:00:00+01:00',
}
const usage: Usage = {
  meta: {
    account_id: exampleIds.account,
    ...examplePeriod,
    granularity: 'day',
    group_by: ['type'],
    tz: 'Europe/Berlin',
  },
  data: [
    {
      ts: examplePeriod.start,
      values: [{ seconds: 270, conversations: 10, dimensions: { type: 'phone' } }],
    },
    { ts: '2026-11-02T00:00:00+01:00', values: [] },
  ],
}

export const usageExamples: Examples = { 'usage.one': usage }
