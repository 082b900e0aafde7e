import { ok } from 'node:assert/strict'
import { accountNames } from './furniture/accounts.ts'
import type { CallRow, State } from './state.ts'

/** Looks into a company by the names that people use. */
export const companyOf = (state: State) => {
  const rootId = state.accounts.find(({ name }) => name === accountNames.company)?.id ?? ''
  return {
    rootId,
    agent: (name: string) => only(state.agents, (agent) => agent.config.name === name),
    tagged: (tag: string) => state.agents.filter(({ config }) => config.tags.includes(tag)),
    trunk: (name: string) => only(state.sip_trunks, (trunk) => trunk.name === name),
    number: (name: string) => only(state.phone_numbers, (one) => one.friendly_name === name),
    agentNames: state.agents.map(({ config }) => config.name),
  }
}

function only<T>(items: readonly T[], isMeant: (item: T) => boolean): T {
  const [item, ...more] = items.filter(isMeant)
  ok(item !== undefined && more.length === 0, 'one thing of that name')
  return item
}

/** Instants from the first to before the last, as Unix ms. */
export interface Period {
  readonly from: number
  readonly to: number
}

/** Whole days in UTC: `period('2026-11-09', '2026-11-16')` is a week. */
export const period = (first: string, after: string): Period => ({
  from: Date.parse(`${first}T00:00Z`),
  to: Date.parse(`${after}T00:00Z`),
})

export const within =
  ({ from, to }: Period) =>
  ({ created }: Pick<CallRow, 'created'>) =>
    created >= from && created < to

/** Sums of the completed calls of a time by agent: what the platform calls usage. */
export function usageByAgent(
  state: State,
  span: Period,
): Map<string, { calls: number; minutes: number }> {
  const sums = new Map<string, { calls: number; minutes: number }>()
  for (const call of state.calls.filter(within(span))) {
    if (call.outcome !== 'completed') continue
    const name = call.agent_name ?? ''
    const { calls, minutes } = sums.get(name) ?? { calls: 0, minutes: 0 }
    sums.set(name, { calls: calls + 1, minutes: minutes + call.duration_seconds / 60 })
  }
  return sums
}

/** The number of the other side of a call. */
export const contactOf = ({ direction, from_number, to_number }: CallRow): string | null =>
  direction === 'inbound' ? from_number : to_number
