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

export const catalogReads = (lists: Comparison): Section => ({
  title: 'catalog over HTTP, 16 connections',
  unit,
  values: {
    catalog: Math.round(rateOf(lists, 'catalog')),
    'tools/list': Math.round(rateOf(lists, 'ours')),
  },
  goals: [
    { name: 'of the floor of tools/list (aim)', value: ratio(lists, 'catalog', 'floor'), aim: 0.5 },
  ],
})

export interface MemoryUnderLoad {
  /** After each of ten loads over 16 connections, MB. */
  readonly parts: readonly number[]
  /** After a load over 256 connections, MB. */
  readonly withMany: number
}

/** How much memory there is in the end is reported only: it depends on Node's options. */
export function memoryUnderLoad(
  { parts, withMany }: MemoryUnderLoad,
  { options, seconds }: { readonly options: string; readonly seconds: number },
): Section {
  const halfWay = parts[Math.floor(parts.length / 2) - 1] ?? Number.NaN
  const last = parts.at(-1) ?? Number.NaN
  return {
    title: `memory over HTTP ${options}, under tools/call for ${seconds} s, 16 connections`,
    unit: 'MB',
    values: {
      'at first': parts[0] ?? Number.NaN,
      'half-way': halfWay,
      'at last': last,
      most: Math.max(...parts),
      'then with 256 connections': withMany,
    },
    goals: [{ name: 'times half-way', value: round(last / halfWay), atMost: 1.1 }],
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
