import type { Goal, Section } from '../measure/report.ts'
import { round } from '../measure/statistics.ts'
import type { Comparison } from './subjects.ts'

const unit = 'requests per second of one core'

const rateOf = (all: Comparison, name: string) => all.get(name)?.perCpuSecond ?? Number.NaN

const ratio = (all: Comparison, one: string, other: string) =>
  round(rateOf(all, one) / rateOf(all, other))

/** How many times as fast as a server made with the SDK, and how near to the least there can be. */
export function againstSdk(
  title: string,
  all: Comparison,
  { least, aim }: { readonly least: number; readonly aim: number },
): Section {
  const ofOne: Goal[] = all.has('sdk of one')
    ? [
        {
          name: 'times the SDK with that tool alone',
          value: ratio(all, 'ours', 'sdk of one'),
          atLeast: 2.5,
        },
      ]
    : []
  return {
    title,
    unit,
    values: Object.fromEntries([...all].map(([name, one]) => [name, Math.round(one.perCpuSecond)])),
    goals: [
      { name: 'times the SDK', value: ratio(all, 'ours', 'sdk'), atLeast: least },
      { name: 'of the floor (aim)', value: ratio(all, 'ours', 'floor'), aim },
      ...ofOne,
    ],
  }
}

export const againstCatalog = (lists: Comparison): Section => ({
  title: 'catalog over HTTP, 16 connections',
  unit,
  values: {
    catalog: Math.round(rateOf(lists, 'catalog')),
    'tools/list': Math.round(rateOf(lists, 'ours')),
  },
  goals: [{ name: 'of tools/list', value: ratio(lists, 'catalog', 'ours'), atLeast: 0.8 }],
})

export interface MemoryUnderLoad {
  /** After each of ten loads over 16 connections, MB. */
  readonly parts: readonly number[]
  /** After a load over 256 connections, MB. */
  readonly withMany: number
}

export function memoryUnderLoad({ parts, withMany }: MemoryUnderLoad, seconds: number): Section {
  const [first = Number.NaN] = parts
  const last = parts.at(-1) ?? Number.NaN
  return {
    title: `memory over HTTP, under tools/call for ${seconds} s, 16 connections`,
    unit: 'MB',
    values: { 'at first': first, most: Math.max(...parts) },
    goals: [
      { name: 'at last', value: last, atMost: 120 },
      { name: 'times at first', value: round(last / first), atMost: 1.1 },
      { name: 'then with 256 connections', value: withMany, atMost: 120 },
    ],
  }
}

export function addedTime(single: Comparison): Section {
  const added = (name: 'p50' | 'p99') =>
    round((single.get('ours')?.[name] ?? Number.NaN) - (single.get('direct')?.[name] ?? Number.NaN))
  return {
    title: 'added by tools/call to the direct request, 1 connection',
    unit: 'ms',
    values: Object.fromEntries(
      [...single].flatMap(([name, one]) => [
        [`${name} p50`, round(one.p50)],
        [`${name} p99`, round(one.p99)],
      ]),
    ),
    goals: [
      { name: 'p50', value: added('p50'), atMost: 0.7 },
      { name: 'p99', value: added('p99'), atMost: 4 },
    ],
  }
}
