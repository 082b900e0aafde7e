import { ok } from 'node:assert/strict'
import type { CallRow, CompanyRows } from './company-rows.ts'
import { accountNames } from './seed/accounts.ts'

/** Half-open time range, Unix ms. */
export interface Period {
  readonly from: number
  readonly to: number
}

/** A period of whole days in UTC. `period('2026-11-09', '2026-11-16')` is a week. */
export const period = (first: string, after: string): Period => ({
  from: Date.parse(`${first}T00:00Z`),
  to: Date.parse(`${after}T00:00Z`),
})

export const october = period('2026-10-01', '2026-11-01')
export const weekBefore = period('2026-11-02', '2026-11-09')
export const lastWeek = period('2026-11-09', '2026-11-16')
export const yesterday = period('2026-11-17', '2026-11-18')

/** A company, with look-ups by the names that people use. */
export type Company = ReturnType<typeof companyOf>

export const companyOf = (rows: CompanyRows) => {
  const accountId = (name: string) => only(rows.accounts, (one) => one.name === name).id
  /** Telephone calls of a period, optionally with one outcome. */
  const callsIn = ({ from, to }: Period, outcome?: CallRow['outcome']) =>
    rows.calls.filter(
      (call) =>
        call.created >= from &&
        call.created < to &&
        (outcome === undefined || call.outcome === outcome),
    )
  return {
    ...rows,
    accountId,
    rootId: accountId(accountNames.company),
    accountName: (id: string) => only(rows.accounts, (one) => one.id === id).name,
    agent: (name: string) => only(rows.agents, ({ config }) => config.name === name),
    tagged: (tag: string) => rows.agents.filter(({ config }) => config.tags.includes(tag)),
    trunk: (name: string) => only(rows.sip_trunks, (trunk) => trunk.name === name),
    number: (name: string) => only(rows.phone_numbers, (one) => one.friendly_name === name),
    agentNames: rows.agents.map(({ config }) => config.name),
    callsIn,
    /** Completed telephone calls of a period by agent name, as the platform's usage counts them. */
    usageIn: (span: Period) =>
      Map.groupBy(callsIn(span, 'completed'), ({ agent_name }) => agent_name ?? ''),
  }
}

function only<T>(items: readonly T[], isMeant: (item: T) => boolean): T {
  const [item, ...more] = items.filter(isMeant)
  ok(item !== undefined && more.length === 0, 'one thing of that name')
  return item
}

/** Telephone number of the other party; empty for a web call. */
export const contactOf = ({ direction, from_number, to_number }: CallRow): string =>
  (direction === 'inbound' ? from_number : to_number) ?? ''
