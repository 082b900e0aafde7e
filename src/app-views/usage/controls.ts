import { h } from '../shared/dom.ts'
import { select } from '../shared/select.ts'
import type { Page } from '../shared/view.ts'
import { type Measure, measures, type UsageData } from './data.ts'

const granularities = { hour: 'Hour', day: 'Day', month: 'Month', total: 'In total' }
const groupings = { '': 'Nothing', agent: 'Agent', subaccount: 'Subaccount', type: 'Type' }

const and = ' and '

/** What is shown, and where the host lets the view call tools, how it is split. */
export function usageControls(
  { meta }: UsageData,
  {
    page: { host, input, call },
    measure,
    setMeasure,
  }: {
    readonly page: Page<UsageData>
    readonly measure: Measure
    readonly setMeasure: (measure: Measure) => void
  },
): HTMLElement {
  const again = (changed: Readonly<Record<string, unknown>>) => {
    // A comparison has totals only.
    const { compare_start: _, compare_end: __, limit: ___, ...rest } = input
    call('get_usage', { ...rest, ...changed })
  }
  const shown = select({
    id: 'measure',
    label: 'Show',
    options: measures,
    value: measure,
    change: (value) => setMeasure(value === 'minutes' ? 'minutes' : 'conversations'),
  })
  if (!host.canCallTools()) return h('div', { class: 'row controls' }, shown)
  return h(
    'div',
    { class: 'row controls' },
    shown,
    select({
      id: 'granularity',
      label: 'By',
      options: granularities,
      value: meta.granularity ?? 'day',
      change: (granularity) => again({ granularity }),
    }),
    select({
      id: 'grouping',
      label: 'Split by',
      options: groupings,
      // The model may have asked for several at once.
      value: [input.group_by ?? []].flat().join(and),
      change: (group_by) => again({ group_by: group_by ? group_by.split(and) : undefined }),
    }),
  )
}
