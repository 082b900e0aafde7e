import { isDeepStrictEqual } from 'node:util'
import { changesBetween, valueAt } from '../../../src/tool/field-changes.ts'
import { type CompanyRows, type Table, tables } from './company-rows.ts'

/** An expectation that several values can meet: a predicate, and its description for messages. */
export class Fits {
  readonly about: string
  readonly test: (value: unknown, after: CompanyRows) => boolean

  constructor(about: string, test: Fits['test']) {
    this.about = about
    this.test = test
  }
}

/** Values by dotted path within a row. */
export type Values = Readonly<Record<string, unknown>>

/** Time of a row's last save. Compared only if a job names it. */
const ownTime = 'modified'

/** The changes that a job must make to the company. */
export interface Changes {
  /** Rows that must change, with their expected values. */
  readonly changed?: readonly { table: Table; id: string; set: Values }[]
  /** New rows. Paths that are not named may have any value. */
  readonly added?: readonly { table: Table; about: string; row: Values }[]
  readonly removed?: readonly { table: Table; id: string }[]
}

/** Differences between the actual and the expected company: missing and unexpected changes. */
export function problemsOf(changes: Changes, before: CompanyRows, after: CompanyRows): string[] {
  return tables.flatMap((table) => {
    const was = new Map(before[table].map((row) => [row.id, row]))
    const is = new Map(after[table].map((row) => [row.id, row]))
    const fresh = after[table].filter(({ id }) => !was.has(id))
    return [
      ...[...was].flatMap(([id, row]) =>
        rowProblems({ table, id, row, now: is.get(id) }, changes, after),
      ),
      ...addedProblems(table, fresh, changes, after),
    ]
  })
}

interface RowPair {
  readonly table: Table
  readonly id: string
  readonly row: Values
  readonly now: Values | undefined
}

function rowProblems(
  { table, id, row, now }: RowPair,
  changes: Changes,
  after: CompanyRows,
): string[] {
  const label = `${table} ${nameOf(row)}`
  const isRemoved = changes.removed?.some((one) => one.table === table && one.id === id) ?? false
  if (now === undefined) return isRemoved ? [] : [`${label} is gone`]
  if (isRemoved) return [`${label} still exists`]
  const set = new Map(
    changes.changed
      ?.filter((one) => one.table === table && one.id === id)
      .flatMap((one) => Object.entries(one.set)),
  )
  const differing = changesBetween(row, now).map(({ field }) => field)
  const paths = new Set([...differing.filter((path) => path !== ownTime), ...set.keys()])
  return [...paths].flatMap((path) => {
    const expected = set.has(path) ? set.get(path) : valueAt(row, path)
    const found = valueAt(now, path)
    return isRight(expected, found, after)
      ? []
      : [`${label}: ${path} is ${show(found)}, not ${show(expected)}`]
  })
}

function addedProblems(
  table: Table,
  fresh: readonly Values[],
  { added = [] }: Changes,
  after: CompanyRows,
): string[] {
  const expected = added.filter((one) => one.table === table)
  const left = [...fresh]
  const problems = expected.flatMap(({ about, row }) => {
    const at = left.findIndex((found) => wrongPaths(row, found, after).length === 0)
    if (at >= 0) {
      left.splice(at, 1)
      return []
    }
    const near = left
      .map((found) => wrongPaths(row, found, after))
      .sort((a, b) => a.length - b.length)
    return [`${table}: ${about} is missing${near[0] ? `; the nearest: ${near[0].join('; ')}` : ''}`]
  })
  const tooMany = fresh.length - expected.length
  if (tooMany <= 0) return problems
  return [
    ...problems,
    `${table}: ${fresh.length} new, not ${expected.length}: ${fresh.map(nameOf).join(', ')}`,
  ]
}

const wrongPaths = (row: Values, found: Values, after: CompanyRows): string[] =>
  Object.entries(row).flatMap(([path, expected]) => {
    const value = valueAt(found, path)
    return isRight(expected, value, after)
      ? []
      : [`${path} is ${show(value)}, not ${show(expected)}`]
  })

const isRight = (expected: unknown, found: unknown, after: CompanyRows): boolean =>
  expected instanceof Fits ? expected.test(found, after) : isDeepStrictEqual(expected, found)

const nameOf = (row: Values): string =>
  String(
    valueAt(row, 'config.name') ??
      valueAt(row, 'number') ??
      valueAt(row, 'name') ??
      valueAt(row, 'to_number') ??
      valueAt(row, 'id'),
  )

const show = (value: unknown): string =>
  value instanceof Fits ? value.about : (JSON.stringify(value) ?? 'absent')
